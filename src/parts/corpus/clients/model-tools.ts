import type { Flags, ModelPart } from '../../../doors/cli/part.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { type AnyOperation, everyDoor } from '../../../operations/operation.ts'
import { corpusName, presentIn } from '../verbs/present-corpus.ts'

/** The verbs that a model gets, with the names that agents of the original program know. */
const toolNames: Readonly<Record<string, string>> = {
  status: 'meta_status',
  list: 'meta_list',
  item: 'meta_detail',
  preview: 'meta_preview',
  trigger: 'meta_trigger',
  seed: 'meta_seed',
  queue: 'meta_queue',
  update: 'meta_update',
}

/** The given verbs; some of them become tools for models. */
export function withTools<Operations extends Readonly<Record<string, AnyOperation>>>(given: Operations): Operations {
  const entries = Object.entries(given).map(([verb, entry]) => {
    const name = toolNames[verb]
    return [verb, name === undefined ? entry : Object.freeze({ ...entry, doors: everyDoor, tool: { name } })]
  })
  return Object.fromEntries(entries) as Operations
}

/** The tools of `belfry mcp --corpus NAME`: those of one corpus. The model cannot reach another corpus. */
export function modelOfCorpus(flags: Flags, problems: Problem[]): ModelPart {
  const { corpus: name } = flags as { readonly corpus?: string }
  const close = () => Promise.resolve()
  if (name === undefined) return { close }
  if (!corpusName.safeParse(name).success) {
    problems.push({ field: '--corpus', problem: `is ${JSON.stringify(name)}`, expected: 'the name of a corpus' })
  }
  const tools = Object.entries(toolNames)
  return {
    tools: tools.map(([, tool]) => tool),
    fixed: Object.fromEntries(tools.map(([verb, tool]) => [tool, { [verb === 'list' ? 'corpus' : 'name']: name }])),
    instructions: `The meta_ tools work on the corpus ${name}: documents that are refreshed phase by phase.`,
    async opened(context) {
      await presentIn(context, name)
    },
    close,
  }
}
