import type { Hold } from '../../core/hold.ts'
import { kernelHoldReasons } from '../../core/hold-reason.ts'
import type { Actor } from '../../store/audit/actor.ts'
import { holdOf } from '../../store/holds/hold-row.ts'
import { liftHolds } from '../../store/holds/lift-hold.ts'
import { putHold } from '../../store/holds/put-hold.ts'
import { lockManaged } from '../../store/managed.ts'
import { both, clockNow, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { columnsOf } from '../../store/tables.ts'

const reason = kernelHoldReasons.stopped
const everything = { scope: 'namespace', subject: '' } as const

const findStop = both(
  'stop find',
  `select ${columnsOf('hold')} from belfry.hold where ns = $1 and scope = 'namespace' and subject = '' and reason = '${reason.code}'
    and from_at <= $2 and until_at > $2 limit 1`,
)

export type StopAnswer = { readonly answer: 'stopped' | 'was-stopped'; readonly hold: Hold }

/** Stops the namespace, unless it is stopped already: then the answer is the hold that stops it. Of two callers the second waits for the first. */
export function* stopAll(
  context: StoreContext,
  { note, actor }: { readonly note: string | null; readonly actor: Actor },
): Step<StopAnswer> {
  yield* lockManaged(context)
  const found = yield* one(findStop, context.ns, yield* clockNow())
  if (found !== undefined) return { answer: 'was-stopped', hold: holdOf(found) }
  const put = yield* putHold(context, { ...everything, reason, note, actor, verb: 'hold.stop' })
  return { answer: 'stopped', hold: (put as Extract<typeof put, { answer: 'put' }>).hold }
}

/** Lifts what stops the namespace; answers nothing where nothing does. */
export function* goOn(context: StoreContext, { actor }: { readonly actor: Actor }): Step<Hold[]> {
  return yield* liftHolds(context, { ...everything, reason: reason.code }, { actor, verb: 'hold.go' })
}
