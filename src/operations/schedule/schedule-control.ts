import { z } from 'zod'
import { callerKind } from '../../core/caller.ts'
import { BelfryError } from '../../core/error.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { findSchedule } from '../../store/reads/find-schedule.ts'
import { deleteSchedule } from '../../store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../store/schedules/pause-schedule.ts'
import { resetSchedule } from '../../store/schedules/reset-schedule.ts'
import { runNow } from '../../store/schedules/run-now.ts'
import { testSchedule } from '../../store/schedules/test-schedule.ts'
import { clockNow } from '../../store/statement.ts'
import { refuseOtherPayload } from '../caller-scope.ts'
import { fleetOf } from '../explain/fleet.ts'
import { payload, reason, scheduleName } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { durationFields, durationOf } from '../input/duration-input.ts'
import { instant, over } from '../input/instant.ts'
import { type Problem, quoted, refuse } from '../input/refuse-input.ts'
import { presentSchedule, throwAbsentSchedule } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { refuseSystem } from '../refuse-system.ts'
import { runSituationOf } from '../run/run-situation.ts'
import { count, flag, freedName, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { deleted } from '../show.ts'
import { plainText } from './plain-text.ts'
import { type Schedule, scheduleOf } from './schedule-answer.ts'
import { schedulePaused, scheduleSchema } from './schedule-schema.ts'
import { nextOf } from './show.ts'

export const steering = {
  noun: 'schedule',
  effect: 'write',
  scope: 'operate',
  takes: ['name'],
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
} as const

export const remove = operation({
  ...steering,
  verb: 'delete',
  method: 'DELETE',
  idempotent: true,
  asksFirst: true,
  defaultTool: 'Delete a schedule and cancel its waiting runs. A run that has started finishes, unless cancelLeased.',
  says: 'Delete a schedule and free its name; running runs finish unless cancelLeased is given.',
  request: 'a deletion',
  effect: 'destructive',
  rehearses: true,
  input: z.strictObject({
    name: scheduleName,
    cancelLeased: z.boolean().describe('Cancel its running runs too. Default: false.').optional(),
  }),
  output: freedName,
  show: ({ name }, sheet) => deleted(plainText(name), sheet),
  examples: [{ name: 'nightly' }, { name: 'nightly', cancelLeased: true }],
  async run(context, { name, cancelLeased }) {
    const { store, actor } = context
    if ((await store.look(findSchedule, name)) !== null) refuseSystem(name, 'remove')
    const answer = await store.do(deleteSchedule, name, { ...onlyGiven({ cancelLeased }), actor })
    if (answer === 'not-found') return throwAbsentSchedule(context, name)
    context.waits.lookAtAll()
    return { name, deleted: true as const }
  },
})

export const pause = operation({
  ...steering,
  verb: 'pause',
  idempotent: true,
  defaultTool:
    'Pause a schedule for a time, until an instant, or until schedule_resume. Runs that have started finish.',
  says: 'Pause a schedule for a time, until an instant, or until it is resumed; running runs finish.',
  request: 'a pause',
  input: z.strictObject({
    name: scheduleName,
    until: instant.describe('When the pause ends by itself.').optional(),
    ...durationFields('for', 'How long the pause lasts, instead of until.'),
    reason: reason.optional(),
  }),
  output: schedulePaused,
  show({ name, paused, zone, clamped }, sheet) {
    const { when } = sheet.inZone(zone)
    const resumed = `until it is resumed: ${sheet.command('schedule', 'resume', name)}`
    const told = clamped === undefined ? '' : `\n  shorter than requested: ${clamped.why}`
    return `paused ${plainText(name)} ${paused === null ? resumed : `until ${when(paused.until)}`}${told}`
  },
  examples: [{ name: 'nightly' }, { name: 'nightly', for: '1h', reason: 'The backup server is moved.' }],
  async judge(context, { given, value, problems: found }) {
    const { store, actor } = context
    const problems: Problem[] = [...found]
    const forMs = durationOf(value, 'for', problems)
    if (given.until !== undefined && (given.for !== undefined || given.forMs !== undefined)) {
      problems.push({ field: 'until', problem: 'is given beside `for`', expected: 'only one of the two' })
    }
    const now = await store.look(clockNow)
    const until = forMs === undefined ? value.until : now + forMs
    if (until !== undefined && until <= now) problems.push(over('until', until, now))
    refuse('The pause', problems)
    const name = value.name as string
    const why = value.reason ?? `asked for by ${actor.name}`
    const answer = await store.do(pauseSchedule, name, { ...onlyGiven({ until }), reason: why, actor })
    if (answer === 'not-found') return throwAbsentSchedule(context, name)
    const schedule = await shown(context, name)
    return answer === 'paused' ? schedule : { ...schedule, ...answer }
  },
})

export const resume = operation({
  ...steering,
  verb: 'resume',
  idempotent: true,
  defaultTool: 'End all pauses of a schedule. Occurrences that passed meanwhile are not run.',
  says: 'End every pause of a schedule; occurrences that passed meanwhile are not run.',
  request: 'a resumption',
  input: z.strictObject({ name: scheduleName }),
  output: z.strictObject({ resumed: flag('Whether it was paused.'), schedule: scheduleSchema }),
  show: ({ resumed, schedule }, sheet) =>
    `${resumed ? 'resumed' : 'was not paused:'} ${plainText(schedule.name)}, next: ${nextOf(schedule, sheet)}`,
  examples: [{ name: 'nightly' }],
  async run(context, { name }) {
    const answer = await context.store.do(resumeSchedule, name, { actor: context.actor })
    if (answer === 'not-found') return throwAbsentSchedule(context, name)
    return { resumed: answer === 'resumed', schedule: await shown(context, name) }
  },
})

export const reset = operation({
  ...steering,
  verb: 'reset',
  idempotent: true,
  says: 'Reset the failures in a row of a schedule to 0 and plan its next run at once; a pause stays.',
  request: 'a reset',
  input: z.strictObject({ name: scheduleName }),
  output: z.strictObject({
    failureCount: count('The failures in a row before the reset.'),
    schedule: scheduleSchema,
  }),
  show: ({ failureCount, schedule }, sheet) =>
    `reset ${plainText(schedule.name)}, failures in a row: ${failureCount} before, 0 now, next: ${nextOf(schedule, sheet)}`,
  examples: [{ name: 'nightly' }],
  async run(context, { name }) {
    const answer = await context.store.do(resetSchedule, name, { actor: context.actor })
    if (answer.answer === 'not-found') return throwAbsentSchedule(context, name)
    return { failureCount: answer.failureCount, schedule: await shown(context, name) }
  },
})

/** A run created by hand. */
export interface RunMade {
  readonly id: string
  /** Why the run does not start at once: its schedule is paused, or another run of the schedule has not ended. */
  readonly kept?: 'held' | 'overlap'
  /** It starts although its calendars may be closed. */
  readonly beyondCalendars?: true
  /** The hold that keeps it from starting, in words. */
  readonly heldBy?: string
  /** When time alone ends the holds on it; null where one of them is lifted by hand. */
  readonly heldUntil?: number | null
}

export const run = operation({
  ...steering,
  verb: 'run',
  errors: [...steering.errors, 'quota'],
  defaultTool:
    'Run a schedule once now, beside its timing. While a run of it is live its overlap rule decides; force overrides it.',
  says: 'Run a schedule once now, beside its timing; while another run is live, its overlap rule applies.',
  request: 'a run by hand',
  input: z.strictObject({
    name: scheduleName,
    force: z
      .boolean()
      .describe(
        'Create the run although another has not ended; asked by a person, also although its calendars are closed. Default: false.',
      )
      .optional(),
    payload: payload.describe('The payload of this run. Default: the payload of the schedule.').optional(),
  }),
  output: outputOf<RunMade>()(
    z.strictObject({
      id: text('The id of the run.'),
      kept: z
        .enum(['held', 'overlap'])
        .describe('Why it does not start at once: its schedule is paused, or another run of it has not ended.')
        .exactOptional(),
      beyondCalendars: z.literal(true).describe('Closed calendars do not keep it from starting.').exactOptional(),
      heldBy: text('The hold that keeps it from starting, in words.').exactOptional(),
      heldUntil: instantOutput('When the holds on it end by themselves; null where one is lifted by hand.')
        .nullable()
        .exactOptional(),
    }),
  ),
  show({ id, kept, beyondCalendars, heldBy, heldUntil = null }, { command, when, spelled }) {
    const why = {
      held: ', which waits: its schedule is paused or held',
      overlap: ', which waits: another run has not ended',
    }
    const beyond = beyondCalendars === true ? '; closed calendars do not keep it from starting' : ''
    const until = heldUntil === null ? '' : ` It may start ${when(heldUntil)}.`
    const waits = heldBy === undefined ? '' : `\n  it waits: ${spelled(heldBy)}${until}`
    return `created ${id}${kept === undefined ? beyond : why[kept]}${waits}\n  follow it: ${command('run', 'output', '-f', id)}`
  },
  examples: [{ name: 'nightly' }, { name: 'report', payload: { day: 'yesterday' }, force: true }],
  async run(context, { name, ...how }) {
    // The payload needs a check: it decides what a program does, and is the body of a request that
    // carries a secret.
    if (how.payload !== undefined)
      refuseOtherPayload(context, (await context.store.look(findSchedule, name))?.spec.target)
    // A model may not force a run past the calendars of a person.
    const beyondCalendars = how.force === true && callerKind(context.actor) === 'person'
    const answer = await context.store.do(runNow, name, { ...onlyGiven(how), beyondCalendars })
    switch (answer.answer) {
      case 'created':
        return {
          id: answer.id,
          ...onlyGiven({ kept: answer.kept, beyondCalendars: answer.beyondCalendars }),
          ...(await heldBy(context, answer.id)),
        }
      case 'overlap':
        throw new BelfryError('conflict', `Run ${answer.liveRunId} of schedule ${quoted(name)} has not ended.`, {
          hint: 'Wait for it, cancel it, or give `force`.',
          details: { schedule: name, liveRunId: answer.liveRunId },
        })
      case 'not-found':
        return throwAbsentSchedule(context, name)
    }
  },
})

/** The hold that keeps a new run from starting: without it a person would follow the output of a run that waits for days. */
async function heldBy(context: OperationContext, id: string): Promise<Pick<RunMade, 'heldBy' | 'heldUntil'>> {
  const made = await context.store.look(findRun, id)
  if (made === null) return {}
  const { code, sentence, waiting } = await runSituationOf(context, made, await fleetOf(context))
  return code === 'held-by' ? { heldBy: sentence, heldUntil: waiting?.until ?? null } : {}
}

export const test = operation({
  ...steering,
  verb: 'test',
  errors: ['invalid', 'not-found', 'quota'],
  says: 'Run a schedule once now as a test, also while it is paused; nothing of it changes.',
  request: 'a test run',
  input: z.strictObject({ name: scheduleName }),
  output: z.strictObject({ id: text('The id of the run.') }),
  show: ({ id }, { command }) => `created ${id}, a test\n  follow it: ${command('run', 'output', '-f', id)}`,
  examples: [{ name: 'nightly' }],
  async run(context, { name }) {
    const answer = await context.store.do(testSchedule, name)
    return answer.answer === 'created' ? { id: answer.id } : throwAbsentSchedule(context, name)
  },
})

async function shown(context: OperationContext, name: string): Promise<Schedule> {
  return scheduleOf(await presentSchedule(context, name))
}
