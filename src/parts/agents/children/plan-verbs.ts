import { z } from 'zod'
import { type AnswerRules, expectationProblems } from '../../../core/run/expect.ts'
import { limit, limitDefault } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { durationFields } from '../../../operations/input/duration-input.ts'
import { instantOf, over } from '../../../operations/input/instant.ts'
import type { Reading } from '../../../operations/input/read-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import { scheduleShape } from '../../../operations/schedule/schedule-input.ts'
import { outputOf, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { clockNow } from '../../../store/statement.ts'
import { projectRoot } from '../inbox/project-root.ts'
import { ownAndKept, presentTask } from '../tasks/present-task.ts'
import { taskId } from '../tasks/task-input.ts'
import { deleteOwn } from './delete-own.ts'
import { durableHere, planned } from './plan-child.ts'
import { type PlannedTask, plannedSchema, plannedTaskOf } from './planned-task.ts'

/** People use the other verbs of tasks, which take every field. */
const agents: Doors = { ...everyDoor, cli: 'People use task create, loop, list and delete.' }
export const set = ['tasks']

const { cron, zone, every, everyMs, at, maxRuns } = scheduleShape

/** The fields that an agent gives for a task. It cannot give program, environment, folder, queue or account. */
const asked = {
  prompt: z.string().describe('What the agent is to do, on its own: it remembers nothing.'),
  agent: z.string().min(1).describe('Its profile. Default: that of this run, else claude.').optional(),
  maxRuns,
  durable: z
    .boolean()
    .describe('Whether it outlives this session. false: its prompt comes to this session. Default: true.')
    .optional(),
}

type Given = Readonly<Record<string, unknown>>

export interface PlanWritten {
  readonly answer: 'created' | 'unchanged'
  readonly task: PlannedTask
}

const planWritten = outputOf<PlanWritten>()(
  z.strictObject({
    answer: z.enum(['created', 'unchanged']).describe('The result; unchanged: it was just asked for.'),
    task: plannedSchema,
  }),
)

const planning = {
  noun: 'task',
  effect: 'write',
  scope: 'operate',
  inRun: true,
  begins: true,
  rehearses: true,
  takes: [],
  output: planWritten,
  errors: ['invalid', 'not-found', 'conflict', 'quota'],
  doors: agents,
  about: () => 'task',
} as const

const plan = operation({
  ...planning,
  verb: 'plan',
  tool: { name: 'cron_create', sets: set },
  fieldsAs: 'schedule.put',
  says: 'Plan a prompt for later, once (at, in) or again and again (cron, every), as an agent does: it expires within 7 days.',
  request: 'a plan',
  input: z.strictObject({
    cron: cron.describe('A cron expression, such as 0 9 * * 1-5. One of cron, every, at and in is given.'),
    zone,
    every,
    everyMs,
    at,
    ...durationFields('in', 'How long from now it runs once, in place of at.'),
    ...asked,
    context: z
      .enum(['fresh', 'last', 'session'])
      .describe('What it knows of the run before: nothing, its answer, its session. Default: fresh.')
      .optional(),
    ...durationFields('expires', 'How long it lasts. Default: 7d, and not longer than its parent.'),
  }),
  examples: [
    { cron: '0 9 * * 1-5', zone: 'Europe/Paris', prompt: 'Triage the inbox' },
    { in: '20m', prompt: 'Is the deploy healthy?', agent: 'codex' },
  ],
  async judge(context, reading) {
    const { answer, view } = await planned(context, reading as Reading<Given>)
    return { answer, task: plannedTaskOf(view) }
  },
})

/** A command is not allowed as a rule: an agent must not start other programs. */
const answerRules = z.strictObject({
  textIncludes: z.string().min(1).describe('Text in the answer.').optional(),
  textMatches: z.string().min(1).describe('A regular expression.').optional(),
  json: z.record(z.string(), z.unknown()).describe('Values by path.').optional(),
})
const untilExpected = 'an instant with its offset, or a rule on the answer such as {"textIncludes":"GREEN"}'

const repeat = operation({
  ...planning,
  verb: 'repeat',
  tool: { name: 'loop', sets: set },
  fieldsAs: 'plan',
  says: 'Give an agent a prompt now and every so often, until an instant or an answer; without every each run plans the next by waking itself.',
  request: 'a loop',
  input: z.strictObject({
    ...asked,
    durable: asked.durable
      .unwrap()
      .describe('Whether it outlives this session. Default: false in a session, where it comes to that session.')
      .optional(),
    every: every.unwrap().describe('The time between two looks. Default: each run says when it is woken.').optional(),
    everyMs,
    until: noted(z.union([z.string(), answerRules]), { expected: untilExpected })
      .describe('When it ends: an instant, or a rule on the answer (textIncludes, textMatches, json).')
      .optional(),
  }),
  examples: [
    { prompt: 'Is CI green?', every: '5m', until: { textIncludes: 'GREEN' }, maxRuns: 40 },
    { prompt: 'Watch the migration.', until: '2026-12-01T09:00Z' },
  ],
  async judge(context, { given: whole, value, problems: found }) {
    const problems: Problem[] = [...found]
    // Here `until` is a rule for answers, not a guard.
    const { until: _, ...given } = whole
    const { until, durable = durableHere(context), ...fields } = value
    const ends = readUntil(until, { now: await context.store.look(clockNow), problems })
    if (durable === false && ends.answer !== undefined) {
      const expected = 'an instant, or durable: true: a session says nothing of its answers before it has gone on'
      problems.push({ field: 'until', problem: 'is a rule for a session task', expected })
    }
    const isPaced = given.every === undefined && given.everyMs === undefined
    const timed = isPaced ? {} : { startNow: true }
    const asking = {
      ...fields,
      ...onlyGiven({ durable }),
      ...timed,
      ...(ends.at !== undefined && { expiresAt: ends.at }),
    }
    const { answer, view } = await planned(
      context,
      { given, value: asking as Given, problems },
      {
        isUntimed: isPaced,
        shaped: ({ facts, ...task }) => {
          const more = { ...(isPaced && { pace: 'self' as const }), ...(ends.answer && { untilAnswer: ends.answer }) }
          return { ...task, asked: [task.asked, ends], facts: { ...facts, ...more } }
        },
      },
    )
    return { answer, task: plannedTaskOf(view) }
  },
})

interface Collecting {
  readonly now: number
  readonly problems: Problem[]
}

function readUntil(
  until: unknown,
  { now, problems }: Collecting,
): { readonly at?: number; readonly answer?: AnswerRules } {
  if (until == null) return {}
  if (typeof until === 'string') {
    const read = instantOf(until)
    if ('at' in read && read.at > now) return { at: read.at }
    if ('at' in read) problems.push(over('until', read.at, now))
    else problems.push({ field: 'until', ...read, expected: untilExpected })
    return {}
  }
  const rules = until as AnswerRules
  if (Object.keys(rules).length === 0) problems.push({ field: 'until', problem: 'is empty', expected: untilExpected })
  for (const problem of expectationProblems(rules, undefined)) {
    problems.push({ ...problem, field: problem.field.replace(/^expect/, 'until') })
  }
  return { answer: rules }
}

const list = operation({
  noun: 'task',
  verb: 'planned',
  tool: { name: 'cron_list', sets: set },
  says: 'List the unfinished tasks of this project, with their nominal and spread instants.',
  request: 'a list of plans',
  effect: 'read',
  scope: 'read',
  inRun: true,
  input: z.strictObject({
    after: z.string().describe('The last id of the previous page.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: z.array(plannedSchema),
  errors: ['invalid'],
  doors: agents,
  examples: [{}],
  nextPage: behindLast<PlannedTask>(({ id }) => ({ after: id })),
  async run(context, { limit: most = limitDefault, after }) {
    const project = context.actor.within?.project ?? projectRoot(context.folder)
    const page = { limit: most, project, ...(after !== undefined && { after }) }
    return (await ownAndKept(context, page)).map(plannedTaskOf)
  },
})

const remove = operation({
  noun: 'task',
  verb: 'unplan',
  tool: { name: 'cron_delete', sets: set },
  effect: 'destructive',
  idempotent: true,
  rehearses: true,
  scope: 'operate',
  inRun: true,
  says: 'Delete a task that an agent planned; in a run, one that runs of its schedule planned.',
  request: 'a deletion of a plan',
  input: z.strictObject({ id: taskId }),
  takes: ['id'],
  output: z.strictObject({ id: text('The id of the task.'), deleted: z.literal(true).describe('Always true.') }),
  errors: ['invalid', 'not-found', 'conflict'],
  doors: agents,
  examples: [{ id: '3f9c01ab' }],
  async run(context, { id }) {
    const { spec, id: schedule, home } = await presentTask(context, id)
    const { store, actor, waits } = home
    await store.do(deleteOwn, { name: spec.name, schedule }, { actor })
    waits.lookAtAll()
    return { id: spec.task?.id ?? id, deleted: true as const }
  },
})

export const planOperations = {
  /** Plan a prompt for later, once (at, in) or again and again (cron, every), as an agent does: it expires within 7 days. */
  plan,
  /** Give an agent a prompt now and every so often, until an instant or an answer; without every each run plans the next by waking itself. */
  repeat,
  /** List the unfinished tasks of this project, with their nominal and spread instants. */
  planned: list,
  /** Delete a task that an agent planned; in a run, one that runs of its schedule planned. */
  unplan: remove,
}
