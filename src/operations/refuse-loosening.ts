import { isDeepStrictEqual } from 'node:util'
import { callerKind } from '../core/caller.ts'
import { BelfryError } from '../core/error.ts'
import { forcedCalendar } from '../core/hold.ts'
import { defaultQueue } from '../core/queue/policy.ts'
import type { ScheduleSpec } from '../core/schedule/schedule-spec.ts'
import { accountsIn, calendarsIn } from '../core/target.ts'
import { findQueue } from '../store/reads/find-queue.ts'
import { findRun } from '../store/reads/find-run.ts'
import { namesOfPersons } from './fields/added-fields.ts'
import type { OperationContext } from './operation-context.ts'
import { zoneKept } from './schedule/read-schedule.ts'

/**
 * Refuses an agent that takes away calendars or accounts which a person gave to a schedule or queue: the change may not allow more
 * starts than before.
 */
export function refuseLoosening(
  { actor }: Pick<OperationContext, 'actor'>,
  subject: string,
  { before, after }: { readonly before: object | null | undefined; readonly after: object | null | undefined },
): void {
  if (callerKind(actor) !== 'agent') return
  const kept = new Set(calendarsIn(after))
  const gone = calendarsIn(before).filter((use) => !kept.has(use))
  if (gone.length > 0) throw takesAway(subject, 'calendars', { gone, wanted: calendarsIn(before) })
  const [was, is] = [accountsIn(before), accountsIn(after)]
  const isLoosened = was.length > 0 && (is.length === 0 || is.some((account) => !was.includes(account)))
  if (isLoosened) throw takesAway(subject, 'accounts', { gone: was, wanted: was })
}

interface Taken {
  readonly gone: readonly string[]
  readonly wanted: readonly string[]
}

function takesAway(subject: string, noun: 'calendars' | 'accounts', { gone, wanted }: Taken): BelfryError {
  return new BelfryError('not-allowed', `Only a person takes ${noun} from ${subject}: ${gone.join(', ')}.`, {
    hint: `Give its ${noun} too: ${JSON.stringify(wanted)}. Or ask a person.`,
    details: { caller: 'agent', [noun]: gone },
  })
}

/** Refuses an agent that moves a schedule out of the calendars of its queue. */
export async function refuseLeaving(
  context: Pick<OperationContext, 'actor' | 'store'>,
  subject: string,
  { before, after }: { readonly before: Bounded | null; readonly after: Bounded },
): Promise<void> {
  const [left = defaultQueue, entered = defaultQueue] = [before?.queue, after.queue]
  if (before === null || left === entered || callerKind(context.actor) !== 'agent') return
  const was = (await context.store.look(findQueue, left))?.policy
  const is = (await context.store.look(findQueue, entered))?.policy
  const calendar = [...calendarsIn(after.options), ...calendarsIn(is)]
  refuseLoosening(context, subject, { before: was, after: { calendar } })
}

type Bounded = Omit<ScheduleSpec, 'name'>

/**
 * Refuses an agent that changes what bounds agents and planners on a schedule: the fields that say themselves that they are a person's, the
 * window of hints, and `min` and `max`, which an agent may only narrow. A field that a put leaves out counts as changed.
 */
export function refuseUnbounding(
  { actor, fields }: Pick<OperationContext, 'actor' | 'fields'>,
  subject: string,
  { before, after }: { readonly before: Bounded | null; readonly after: Bounded },
): void {
  if (callerKind(actor) !== 'agent') return
  const [was, is] = [stored(before), stored(after)]
  const names = namesOfPersons(fields.schedule, { isNew: before === null })
  const changed = names.filter((name) => !isDeepStrictEqual(was[name], is[name]))
  const loosened = before === null ? [] : loosenedBounds(before, after)
  const all = [...changed, ...loosened]
  if (all.length === 0) return
  const kept = Object.fromEntries(all.map((name) => [name, was[name] ?? null]))
  throw new BelfryError('not-allowed', `Only a person changes ${inputNames(all)} of ${subject}.`, {
    hint: `${before === null ? 'Leave them out' : `Give them as they are, or leave them out of an update: ${JSON.stringify(kept)}`}. Or ask a person.`,
    details: { caller: 'agent', fields: all },
  })
}

function inputNames(names: readonly string[]): string {
  return names.map((name) => name.replace(/Ms$/, '')).join(', ')
}

function stored(spec: Bounded | null): Readonly<Record<string, unknown>> {
  return { ...spec?.options, ...spec }
}

function loosenedBounds(before: Bounded, after: Bounded): string[] {
  const { minMs = 0, maxMs = Number.POSITIVE_INFINITY, window } = before
  const isMoved = window !== after.window || (window !== undefined && zoneKept(before) !== zoneKept(after))
  return [
    ...((after.minMs ?? 0) < minMs ? ['minMs'] : []),
    ...((after.maxMs ?? Number.POSITIVE_INFINITY) > maxMs ? ['maxMs'] : []),
    ...(isMoved ? ['window'] : []),
  ]
}

/** Refuses an agent that repeats a run which a person forced past closed calendars. */
export async function refuseForced({ store }: Pick<OperationContext, 'store'>, id: string): Promise<void> {
  const run = await store.look(findRun, id)
  if (!calendarsIn(run?.options).includes(forcedCalendar)) return
  throw new BelfryError(
    'not-allowed',
    `A person forced run ${id} past closed calendars, and only a person may repeat such a run.`,
    {
      hint: 'Run its schedule without force: it starts once its calendars are open.',
      details: { caller: 'agent', id },
    },
  )
}
