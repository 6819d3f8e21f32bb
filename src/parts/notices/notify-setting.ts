import { BelfryError } from '../../core/error.ts'
import { toldCalendar } from '../../core/hold.ts'
import { isRecord } from '../../core/json/record.ts'
import { payloadBytesMax } from '../../core/run/payload.ts'
import { needOf, type Target } from '../../core/target.ts'
import { canonicalJson, jsonText } from '../../store/check.ts'
import { ensureQueues, type QueueRow } from '../../store/queues/queue-row.ts'
import { ensureNeeds, needName } from '../../store/runs/lane-row.ts'
import type { Row, Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { type Notice, type Notify, type NotifyPatch, noticesQueue, notifyProblems } from './notice.ts'
import { notifyNames } from './notice-events.ts'

/** The stored notification setting; `null` where none is stored or it cannot be read: the end of a run must not fail for it. */
export function readNotify(text: Row[string] | undefined): Notify | null {
  if (typeof text !== 'string') return null
  try {
    const notify: unknown = JSON.parse(text)
    const isObject = isRecord(notify)
    return isObject && notifyProblems(notify as Record<string, unknown>).length === 0 ? (notify as Notify) : null
  } catch {
    // A setting that is not JSON reads as empty, so no notification is sent.
    return null
  }
}

/** The receivers that a schedule or the policy of a queue names; one that cannot be used is left out. */
export function receiversIn(stored: unknown): Notify {
  if (!isRecord(stored)) return {}
  const sound = notifyNames.filter((field) => notifyProblems({ [field]: stored[field] }).length === 0)
  return Object.fromEntries(sound.flatMap((field) => (stored[field] === undefined ? [] : [[field, stored[field]]])))
}

export function receiverTargets(notify: Notify): Target[] {
  return notifyNames.flatMap((field) => {
    const target = notify[field]
    return target === undefined ? [] : [target]
  })
}

/** The policy of a queue as it is stored, with the fields of parts; `null` where it is not JSON, which `doctor` reports. */
export function parsedPolicy(text: Row[string] | undefined): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return null
  }
}

/** A setting after a change: a field that is not named stays, and `null` removes one. An invalid setting is refused whole. */
export function patchedNotify(before: Notify | null, patch: NotifyPatch): Notify {
  const whole: Record<string, unknown> = { ...before }
  for (const [field, target] of Object.entries(patch)) {
    if (target === null) delete whole[field]
    else if (target !== undefined) whole[field] = target
  }
  const problems = notifyProblems(whole)
  if (problems.length > 0) {
    const said = problems
      .map(({ field, problem, expected }) => `${field} ${problem}, it must be ${expected}`)
      .join('; ')
    throw new BelfryError('invalid', `The notification setting is not valid: ${said}.`, { details: { problems } })
  }
  for (const [field, target] of Object.entries(whole)) jsonText(target, field, payloadBytesMax)
  return whole as Notify
}

/** The text to store; `null` where the setting is empty. */
export function notifyText(notify: Notify): string | null {
  return Object.keys(notify).length === 0 ? null : JSON.stringify(notify)
}

export function isSameNotify(a: Notify | null, b: Notify | null): boolean {
  return canonicalJson(a ?? {}) === canonicalJson(b ?? {})
}

/** The queues of notifications by the kinds of their targets, and the lanes of these by `needName`. */
export interface NoticeLanes {
  readonly queueOf: (target: Target) => QueueRow
  readonly needIds: ReadonlyMap<string, number>
}

/**
 * Finds the queue and the lanes of notices, or makes them. The step that writes receivers makes them, so that the step that ends a run
 * finds them and waits for no other transaction that is making them.
 */
export function* ensureNoticeLanes(context: StoreContext, targets: readonly Target[]): Step<NoticeLanes> {
  const named = targets.map((target) => queueName(context, target))
  const { queues } = yield* ensureQueues(context, [...new Set([noticesQueue, ...named])])
  const needIds = yield* ensureNeeds(
    context,
    targets.flatMap((target) => [needOfNotice(target), needOfNotice(target, 'stop')]),
  )
  return { queueOf: (target) => queues.get(queueName(context, target)) as QueueRow, needIds }
}

/** A session takes messages from their own queue; all other notifications are sent by workers. */
function queueName({ parts }: StoreContext, target: Target): string {
  const { kind = '' } = needOfNotice(target) ?? {}
  return parts.find(({ kindQueues = {} }) => Object.hasOwn(kindQueues, kind))?.kindQueues?.[kind] ?? noticesQueue
}

/** Makes the queue and the lanes for the receivers that a schedule, the policy of a queue or the namespace names. */
export function* ensureLanesOf(context: StoreContext, stored: object): Step<void> {
  const targets = receiverTargets(receiversIn(stored))
  if (targets.length > 0) yield* ensureNoticeLanes(context, targets)
}

export function laneOf({ needIds }: NoticeLanes, target: Target, event: Notice['event']): number {
  return needIds.get(needName(needOfNotice(target, event))) as number
}

/** A stored target was validated when it was written. A notification of a stop is in a lane that the stop does not keep. */
function needOfNotice(target: Target, event?: Notice['event']) {
  const answer = needOf(target)
  if (!('need' in answer) || answer.need === null) return null
  return event === 'stop' ? { ...answer.need, calendar: toldCalendar } : answer.need
}
