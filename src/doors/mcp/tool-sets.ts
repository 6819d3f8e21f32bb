import { reaches, type Scope } from '../../operations/caller-scope.ts'
import { nearest } from '../../operations/input/nearest-name.ts'
import { type Problem, quoted } from '../../operations/input/refuse-input.ts'
import { type AnyOperation, verbWords } from '../../operations/operation.ts'
import { nouns, operations } from '../../table.ts'

/** `schedule_clear_hints`, unless the verb has another name for models. */
export function toolName({ noun, verb, tool }: Pick<AnyOperation, 'noun' | 'verb' | 'tool'>): string {
  return tool?.name ?? `${noun}_${verbWords(verb).replaceAll('-', '_')}`
}

/** The verbs that this door offers. */
export const offeredVerbs: readonly AnyOperation[] = operations.filter(({ doors }) => doors.mcp === true)

const allNames = offeredVerbs.map(toolName)

/** The default tools. A tool costs tokens in every conversation, used or not, so these are few: each new noun is its own set. */
export const defaultTools: readonly string[] = offeredVerbs
  .filter(({ defaultTool }) => defaultTool !== undefined)
  .map(toolName)

/** The names of the sets that verbs are in besides that of their noun. */
const furtherSets = [...new Set(offeredVerbs.flatMap(({ tool }) => tool?.sets ?? []))]

/** Tool sets by name: default, all, one for each noun, and those that verbs name. */
export const toolSets: Readonly<Record<string, readonly string[]>> = {
  default: defaultTools,
  all: allNames,
  ...Object.fromEntries(
    Object.keys(nouns)
      .map((noun) => [noun, offeredVerbs.filter((verb) => verb.noun === noun).map(toolName)] as const)
      .filter(([, names]) => names.length > 0),
  ),
  ...Object.fromEntries(
    furtherSets.map((set) => [set, offeredVerbs.filter(({ tool }) => tool?.sets?.includes(set)).map(toolName)]),
  ),
}

/** The tools that a text such as `default,queue,run_output` names. Of a set only the tools within the scope are offered; a single tool beyond the scope is a problem, because its absence would be unexplained. */
export function chosenTools(
  text: string | undefined,
  { scope, field, problems }: { readonly scope: Scope; readonly field: string; readonly problems: Problem[] },
): ReadonlySet<string> {
  const chosen = new Set<string>()
  for (const word of (text ?? 'default').split(',').map((part) => part.trim())) {
    const names = Object.hasOwn(toolSets, word) ? toolSets[word] : undefined
    if (names !== undefined) for (const name of names) chosen.add(name)
    else if (!allNames.includes(word)) problems.push(unknown(word, field))
    else if (!reaches(scope, neededFor(word))) problems.push(beyond(word, field, scope))
    else chosen.add(word)
  }
  return chosen
}

function neededFor(name: string): Scope {
  return offeredVerbs.find((verb) => toolName(verb) === name)?.scope ?? 'admin'
}

function unknown(word: string, field: string): Problem {
  const meant = nearest(word, [...Object.keys(toolSets), ...allNames])
  const sets = Object.keys(toolSets).join(', ')
  const expected = meant === undefined ? `sets (${sets}) or tool names, separated by commas` : meant
  return { field, problem: word === '' ? 'has an empty name' : `names ${quoted(word)}, which does not exist`, expected }
}

function beyond(name: string, field: string, scope: Scope): Problem {
  const needs = neededFor(name)
  return { field, problem: `names ${name}, which needs the scope ${needs}`, expected: `a tool for the scope ${scope}` }
}
