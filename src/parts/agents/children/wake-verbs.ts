import { z } from 'zod'
import { wakeUp } from '../../../core/agent/wake-up.ts'
import { BelfryError } from '../../../core/error.ts'
import { reasonText } from '../../../core/reason-text.ts'
import { runId } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { type Problem, refusal, refuse } from '../../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { flag, instantOutput, outputOf, text } from '../../../operations/schema/output-schema.ts'
import type { Sheet } from '../../../operations/show.ts'
import type { LeaseName } from '../../../store/port.ts'
import { heldRuns } from '../../../store/reads/held-runs.ts'
import { clockNow } from '../../../store/statement.ts'
import { promptProblem } from '../agent-target.ts'
import { nextTurn } from './next-turn.ts'
import { durableHere, planned } from './plan-child.ts'
import { set } from './plan-verbs.ts'
import { plannedTaskOf } from './planned-task.ts'

export interface Woken {
  readonly at: number | null
  readonly clamped: boolean
  readonly id: string | null
  readonly stopped: boolean
}

const ofAgents = {
  noun: 'task',
  effect: 'write',
  scope: 'operate',
  inRun: true,
  takes: [],
  errors: ['invalid', 'not-found', 'conflict', 'quota'],
  doors: everyDoor,
  about: () => 'task',
} as const

const wake = operation({
  ...ofAgents,
  verb: 'wake',
  begins: true,
  rehearses: true,
  tool: { name: 'schedule_wakeup', sets: set },
  says: 'Wake this session, or an agent, once, 60 to 3600 seconds from now; in a loop that paces itself this plans the next run, and stop ends the loop.',
  request: 'a wake-up',
  input: z.strictObject({
    delaySeconds: z.number().describe('How long from now; clamped to 60…3600.').optional(),
    reason: z.string().min(1).max(500).describe('Why then, for people.').optional(),
    prompt: z.string().describe('What to do then. In a loop: a note for the next run.').optional(),
    stop: z.boolean().describe('End the loop. Default: false.').optional(),
  }),
  output: outputOf<Woken>()(
    z.strictObject({
      at: instantOutput('When it is woken; null: the loop has ended.').nullable(),
      clamped: flag('Whether another delay was asked for.'),
      id: text('The task that was made for it; null in a loop.').nullable(),
      stopped: flag('Whether the loop has ended.'),
    }),
  ),
  show: showWoken,
  examples: [
    { delaySeconds: 600, reason: 'The deploy takes that long.', prompt: 'Is the deploy healthy?' },
    { delaySeconds: 5, reason: 'Soon.', prompt: 'Look again.' },
  ],
  async judge(context, { given, value, problems: found }) {
    const { delaySeconds, reason, prompt, stop = false } = value
    const problems: Problem[] = [...found]
    if (!stop) {
      if (given.delaySeconds === undefined)
        problems.push({ field: 'delaySeconds', problem: 'is missing', expected: 'seconds from 60 to 3600' })
      if (given.reason === undefined)
        problems.push({ field: 'reason', problem: 'is missing', expected: 'why then, in a few words' })
    }
    const wrong = prompt === undefined ? null : promptProblem(prompt)
    if (wrong !== null) problems.push({ field: 'prompt', problem: wrong[0], expected: wrong[1] })
    refuse('The wake-up', problems)
    const now = await context.store.look(clockNow)
    const { at, clamped } = wakeUp({ now, delaySeconds: delaySeconds ?? 0 })
    const { within } = context.actor
    const turn = { at, reason: reason ?? '', stop, ...onlyGiven({ note: prompt }) }
    const isTurn = within !== undefined && (await context.store.do(nextTurn, within, turn)) === 'planned'
    if (isTurn) return { at: stop ? null : at, clamped: !stop && clamped, id: null, stopped: stop }
    if (stop) throw noLoop()
    const fields = { at, prompt, exact: true, description: reason, durable: durableHere(context) }
    const missing = { field: 'prompt', problem: 'is missing', expected: 'what the agent is to do then' }
    const reading = { given, value: onlyGiven(fields), problems: prompt === undefined ? [missing] : [] }
    const { view } = await planned(context, reading)
    return { at, clamped, id: plannedTaskOf(view).id, stopped: false }
  },
})

function showWoken({ at, clamped, id, stopped }: Woken, { when }: Sheet): string {
  if (stopped || at === null) return 'stopped the loop'
  const task = id === null ? '' : ` (task ${id})`
  return `wakes ${when(at)}${task}${clamped ? ': a delay is at least 60 s and at most 60 min' : ''}`
}

function noLoop(): BelfryError {
  return new BelfryError('conflict', 'There is no loop to stop: this is no run of one that paces itself.', {
    hint: 'Delete a task with cron_delete or `belfry task delete`.',
  })
}

const progress = operation({
  ...ofAgents,
  verb: 'progress',
  tool: { sets: set },
  says: 'Note how far a run has come, as a line of its output.',
  request: 'a note of progress',
  input: z.strictObject({
    says: z.string().min(1).max(1_000).describe('One line, for people.'),
    run: runId.describe('The run. Default: that of the agent.').optional(),
  }),
  takes: ['says'],
  output: z.strictObject({ run: text('The run.'), noted: flag('Always true.') }),
  show: ({ run }) => `noted in the output of ${run}`,
  examples: [{ says: 'Three of five tests pass.', run: 'r-15' }],
  async run(context, { says, run }) {
    const lease = await leaseOf(context, run)
    const line = reasonText(says.replace(/belfry_[0-9a-z.-]+_[0-9a-f]{64}/g, '[token]'), 1_000)
    const answer = await context.store.appendOutput(lease, `[progress: ${line}]\n`)
    if (answer === 'lease-lost') throw notAtWork(lease.runId)
    return { run: lease.runId, noted: true }
  },
})

async function leaseOf({ store, actor: { within } }: OperationContext, run = within?.run): Promise<LeaseName> {
  if (run === undefined) {
    const expected = 'the id of a run: only an agent has one of its own'
    throw refusal('The note', [{ field: 'run', problem: 'is missing', expected }])
  }
  if (within === undefined) {
    const [held] = await store.look(heldRuns, [run])
    if (held === undefined) throw notAtWork(run)
    return held
  }
  if (run === within.run) return { runId: run, fence: within.attempt }
  throw new BelfryError('not-allowed', `Run ${run} is not the run of this agent.`, {
    hint: `Leave \`run\` out: it is ${within.run}.`,
    details: { caller: 'agent', reason: 'not-own' },
  })
}

function notAtWork(run: string): BelfryError {
  return new BelfryError('conflict', `Run ${run} is not at work.`, { hint: 'Progress is noted while a run is leased.' })
}

export const wakeOperations = {
  /** Wake this session, or an agent, once, 60 to 3600 seconds from now; in a loop that paces itself this plans the next run, and stop ends the loop. */
  wake,
  /** Note how far a run has come, as a line of its output. */
  progress,
}
