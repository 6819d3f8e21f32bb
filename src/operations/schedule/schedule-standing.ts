import { z } from 'zod'
import { isInForce } from '../../core/hold.ts'
import { holdSentence } from '../../core/hold-reason.ts'
import { groupPausedReason } from '../../core/schedule/group.ts'
import { backedOffEveryMs } from '../../core/timing/schedule-backoff.ts'
import { holdsOn } from '../../store/holds/list-holds.ts'
import { lastTimesOf, pauserOf } from '../../store/reads/last-times.ts'
import { clockNow } from '../../store/statement.ts'
import type { ScheduleView } from '../../store/views.ts'
import type { OperationContext } from '../operation-context.ts'
import { instantOutput } from '../schema/output-schema.ts'
import type { Column, Facts } from '../show.ts'
import { plainText } from './plain-text.ts'
import { type Schedule, scheduleOf } from './schedule-answer.ts'
import { scheduleBrief } from './schedule-brief.ts'
import { scheduleShown } from './show.ts'

/** Fields that only the answer about a single schedule has. */
export const standingShape = {
  last: z
    .strictObject({
      startedAt: instantOutput('When one of its newest occurrences started.').nullable(),
      endedAt: instantOutput('When an occurrence last ended.').nullable(),
      succeededAt: instantOutput('When an occurrence last completed.').nullable(),
    })
    .describe('When it last started, ended and succeeded.'),
  multiplier: z.number().describe('By how much failures in a row stretch its interval now; 1: not at all.'),
  pausedBy: z
    .array(z.string())
    .readonly()
    .describe('Who paused it: callers or its group; empty when it is not paused.'),
}

export interface ScheduleStanding extends Schedule {
  readonly last: {
    readonly startedAt: number | null
    readonly endedAt: number | null
    readonly succeededAt: number | null
  }
  readonly multiplier: number
  readonly pausedBy: readonly string[]
}

/** A schedule with what is known of its last runs and its pauses. */
export async function standingOf(context: OperationContext, view: ScheduleView): Promise<ScheduleStanding> {
  const { store } = context
  const { everyMs } = view.spec.timing
  const { failureCount } = view
  const multiplier = everyMs === undefined ? 1 : backedOffEveryMs({ everyMs, failureCount }) / everyMs
  const last = await store.look(lastTimesOf, view.id)
  return { ...scheduleOf(view), last, multiplier, pausedBy: await pausersOf(context, view) }
}

async function pausersOf({ store, holdReasons }: OperationContext, view: ScheduleView): Promise<string[]> {
  const { spec, disabled, deletedAt } = view
  if (deletedAt !== null) return []
  const now = await store.look(clockNow)
  const by = disabled === null ? null : await store.look(pauserOf, spec.name, disabled.at)
  const holds = await store.look(holdsOn, { schedule: spec.name })
  const ofGroup = holds.filter((hold) => hold.reason === groupPausedReason && isInForce(hold, now))
  return [...(by === null ? [] : [by]), ...ofGroup.map((hold) => holdSentence(hold, holdReasons))]
}

export function standingBrief(value: ScheduleStanding): object {
  const { last: _, multiplier, pausedBy, ...schedule } = value
  return {
    ...scheduleBrief(schedule, false),
    ...(multiplier !== 1 && { multiplier }),
    ...(pausedBy.length > 0 && { pausedBy }),
  }
}

const fared: readonly Column<ScheduleStanding>[] = [
  ['paused-by', ({ pausedBy }) => (pausedBy.length === 0 ? null : pausedBy.map(plainText).join(' '))],
  ['last-start', ({ last }, { when }) => (last.startedAt === null ? null : when(last.startedAt))],
  ['last-end', ({ last }, { when }) => (last.endedAt === null ? null : when(last.endedAt))],
  ['last-success', ({ last }, { when }) => (last.succeededAt === null ? null : when(last.succeededAt))],
  ['multiplier', ({ multiplier }) => (multiplier === 1 ? null : `×${multiplier}`)],
]
const [next, because, ...others] = scheduleShown.facts as [Column<Schedule>, Column<Schedule>, ...Column<Schedule>[]]
const { head, below } = scheduleShown

export const standingShown: Facts<ScheduleStanding> = {
  ...(head !== undefined && { head }),
  ...(below !== undefined && { below }),
  facts: [next, because, ...fared, ...others],
}
