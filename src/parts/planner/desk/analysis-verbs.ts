import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { parseId } from '../../../core/id.ts'
import { limit, scheduleName } from '../../../operations/fields/basic-fields.ts'
import { quoted } from '../../../operations/input/refuse-input.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { indented } from '../../../operations/show.ts'
import { moneyWords } from '../looks/analysis-kind.ts'
import { type AnalysisRow, analysisIds, analysisStates, findAnalysis, listAnalyses } from '../looks/analysis-row.ts'
import { asSent, type ToolCall } from '../looks/look-session.ts'

export const analysisId = noted(
  z.string().refine((id) => parseId(analysisIds, id) !== null),
  { expected: 'the id of an analysis, such as a-12' },
).describe('The id of the analysis.')

const line = z.strictObject({
  id: text('Its id.'),
  schedule: text('The schedule that was looked at.'),
  state: z.enum(analysisStates).describe('How it ended.'),
  author: text('Provider and model.'),
  at: instantOutput('When it began.'),
  reasoning: text('What the planner said, or why it failed.').nullable(),
  confidence: text('How sure it was.').nullable(),
  actions: z
    .array(z.string())
    .readonly()
    .describe('The tools with which it changed something; what was refused or only proposed is not here.'),
  warnings: z.array(z.string()).readonly().describe('What was wrong with it.'),
  tokensIn: z.int().nullable().describe('Tokens of input; null where unknown.'),
  tokensOut: z.int().nullable().describe('Tokens of output; null where unknown.'),
  cost: text('What it cost, or unknown.'),
  nextLookAt: instantOutput('When the planner looks again.').nullable(),
})
const whole = line.extend({
  run: text('Its run.').nullable(),
  promptHash: text('The version of the prompt.').nullable(),
  durationMs: z.int().describe('How long it took, in ms.'),
  facts: z.record(z.string(), z.unknown()).describe('What the planner knew.'),
  calls: z.array(z.record(z.string(), z.unknown())).readonly().describe('Tool calls with arguments and results.'),
  prompt: z
    .strictObject({ system: text('The rules for the planner.'), user: text('The facts as they were sent.') })
    .describe('Exactly what left the machine, on request; then the results of calls are whole too.')
    .exactOptional(),
})
type Line = z.output<typeof line>

const acting = new Set(['propose_interval', 'propose_next_time', 'pause_until', 'clear_hints'])

/** Whether a call changed something: it was neither refused nor made a proposal. */
function isDone({ tool, result }: ToolCall): boolean {
  const { ok, proposed } = (result ?? {}) as { readonly ok?: unknown; readonly proposed?: unknown }
  return acting.has(tool) && ok === true && proposed === undefined
}

function lineOf({ id, schedule, state, author, at, told }: AnalysisRow): Line {
  return {
    id,
    schedule,
    state,
    author,
    at,
    reasoning: told.submitted?.reasoning ?? told.failure?.message ?? null,
    confidence: told.submitted?.confidence ?? null,
    actions: told.calls.filter(isDone).map(({ tool }) => tool),
    warnings: [...new Set([...told.warnings, ...(told.failure === null ? [] : [told.failure.kind])])],
    tokensIn: told.usage.tokensIn ?? null,
    tokensOut: told.usage.tokensOut ?? null,
    cost: moneyWords(told.money),
    nextLookAt: told.nextLookAt,
  }
}

export const withoutModels: Doors = {
  ...everyDoor,
  mcp: 'People read what planners did; a planner reads its own look with its own tools.',
}
const reading = { noun: 'analysis', effect: 'read', scope: 'read', doors: withoutModels, method: 'GET' } as const

export const list = operation({
  ...reading,
  verb: 'list',
  says: 'List the looks of planners, newest first.',
  request: 'a list of analyses',
  input: z.strictObject({
    schedule: scheduleName.describe('Only those of this schedule.').optional(),
    before: analysisId.describe('The last id of the previous page.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: z.array(line),
  show: {
    columns: [
      ['ID', 'id', 'name'],
      ['SCHEDULE', 'schedule', 'short'],
      ['STATE', 'state', 'status'],
      ['WHEN', 'at', 'relative'],
      ['DID', 'actions', 'list'],
      ['SAID', 'reasoning', 'short'],
    ],
    none: 'No planner has looked at anything yet.',
  },
  errors: ['invalid'],
  examples: [{}, { schedule: 'depth', limit: 20 }],
  nextPage: behindLast<Line>(({ id }) => ({ before: id })),
  async run({ store }, { schedule, before, limit: most = 100 }) {
    return (await store.look(listAnalyses, { schedule, before, limit: most })).map(lineOf)
  },
})

export const get = operation({
  ...reading,
  verb: 'get',
  command: ['analysis', 'show'],
  says: 'Show a look of a planner: what it knew, called, said and cost.',
  request: 'a request for an analysis',
  input: z.strictObject({
    id: analysisId,
    prompt: z.boolean().describe('Also exactly what left the machine. Default: false.').optional(),
  }),
  takes: ['id'],
  output: whole,
  show: {
    head: ({ id, schedule, state }, { paint }) => `${paint.bold(id)}  ${state}  ${plainText(schedule)}`,
    facts: [
      ['when', 'at', 'when'],
      ['by', ({ author }) => plainText(author)],
      ['said', ({ reasoning }) => (reasoning === null ? null : plainText(reasoning))],
      ['confidence', ({ confidence }) => (confidence === null ? null : plainText(confidence))],
      ['warnings', ({ warnings }) => (warnings.length === 0 ? null : warnings.join(', '))],
      ['tokens', ({ tokensIn, tokensOut }) => `${tokensIn ?? 'unknown'} in, ${tokensOut ?? 'unknown'} out`],
      ['cost', ({ cost }) => cost],
      ['took', 'durationMs', 'duration'],
      ['looks again', ({ nextLookAt }, { when }) => (nextLookAt === null ? null : when(nextLookAt))],
      ['run', ({ run }) => run],
      ['prompt', ({ promptHash }) => promptHash],
    ],
    below: ({ calls, ...knew }) => shownWork(calls, knew),
  },
  errors: ['invalid', 'not-found'],
  examples: [{ id: 'a-12' }, { id: 'a-12', prompt: true }],
  async run(context, { id, prompt: isAsked = false }) {
    const found = await present(context, id)
    const { promptHash, prompt, durationMs, calls } = found.told
    return {
      ...lineOf(found),
      run: found.run,
      promptHash,
      durationMs,
      facts: found.facts as unknown as Record<string, unknown>,
      calls: (isAsked ? calls.map((call) => asSent(call, found.facts)) : calls) as unknown as Record<string, unknown>[],
      ...(isAsked && prompt !== null && { prompt }),
    }
  },
})

type Whole = z.output<typeof whole>

/** The tool calls and the facts of a look; with the prompt exactly as it was sent, if the caller asked for it. */
function shownWork(calls: Whole['calls'], { prompt, facts }: Pick<Whole, 'prompt' | 'facts'>): string {
  const called = calls.map(({ tool, arguments: given, result }) => {
    return `${String(tool)} ${JSON.stringify(given)}\n  → ${JSON.stringify(result)}`
  })
  const known: [string, string][] =
    prompt === undefined
      ? [['Knew', JSON.stringify(facts, null, 2)]]
      : [
          ['Sent: the rules', prompt.system],
          ['Sent: the facts', prompt.user],
        ]
  const parts: [string, string][] = [['Called', called.length === 0 ? 'nothing' : called.join('\n')], ...known]
  return parts
    .map(([title, lines]) => `\n${title}\n${indented(lines.split('\n').map(plainText).join('\n'))}`)
    .join('\n')
}

export async function present({ store }: OperationContext, id: string): Promise<AnalysisRow> {
  const found = await store.look(findAnalysis, id)
  if (found !== null) return found
  throw new BelfryError('not-found', `There is no analysis ${quoted(id)}.`, {
    hint: 'Analyses are kept for 90 days. List them with `belfry analysis list`.',
    details: { id },
  })
}
