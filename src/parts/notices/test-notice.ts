import { lockNamedSchedule } from '../../store/schedules/schedule-row.ts'
import { both, clockNow, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { runsNamed } from '../../store/verb.ts'
import { noticeTarget } from './notice.ts'
import { type NoticeEvent, noticeEvents } from './notice-events.ts'
import {
  type ChosenNotice,
  enqueueNotices,
  type Happening,
  type NoticeOrigin,
  placesOfSchedules,
} from './notify-ends.ts'
import { parsedPolicy, readNotify, receiversIn } from './notify-setting.ts'

const findNamespace = both('notice test find namespace', 'select name, notify from belfry.namespace where id = $1')
const findQueue = both(
  'notice test find queue',
  'select id, policy from belfry.queue where ns = $1 and name = $2 and deleted_at is null',
)

/** What a test sends: the notices that a schedule, a queue or the namespace has receivers for. */
export interface NoticeTest {
  readonly event?: NoticeEvent
  readonly schedule?: string
  readonly queue?: string
}

export type TestedNotices =
  | { readonly answer: 'sent'; readonly sent: readonly { readonly event: NoticeEvent; readonly run: string }[] }
  | { readonly answer: 'not-found' }

const reason = 'This is a test. Nothing has happened.'

/** What the notices pretend to be about. */
interface Subject extends NoticeOrigin {
  readonly schedule: string | null
  readonly key: Pick<Happening, 'subject' | 'subjectId'>
}

/**
 * Sends a notice of each event to its receiver, also in quiet hours. Nothing is remembered of it: the next real notice is sent
 * as if there had been no test.
 */
export function* testNotices(context: StoreContext, test: NoticeTest): Step<TestedNotices> {
  const subject = yield* subjectOf(context, test)
  if (subject === null) return { answer: 'not-found' }
  const events = test.event === undefined ? noticeEvents : [test.event]
  const told = events.flatMap((event) => toldOf(context, event, subject))
  const runs = yield* enqueueNotices(context, yield* clockNow(), told)
  return {
    answer: 'sent',
    sent: told.map(({ of: { event } }, index) => ({ event: event as NoticeEvent, run: runs[index] as string })),
  }
}
testNotices.audits = (answer: TestedNotices) =>
  answer.answer === 'sent' && answer.sent.length > 0 ? { detail: runsNamed(answer.sent.map(({ run }) => run)) } : null

function* subjectOf(context: StoreContext, { schedule, queue }: NoticeTest): Step<Subject | null> {
  if (schedule !== undefined) {
    const row = yield* lockNamedSchedule(context, schedule)
    const place = row === null ? undefined : (yield* placesOfSchedules([row])).get(row.id)
    if (row === null || place === undefined) return null
    return { ...place, schedule, key: { subject: 'schedule', subjectId: row.id } }
  }
  const namespace = yield* one(findNamespace, context.ns)
  const found = queue === undefined ? undefined : yield* one(findQueue, context.ns, queue)
  if (queue !== undefined && found === undefined) return null
  return {
    namespace: namespace?.name as string,
    queue: queue ?? 'default',
    levels: [receiversIn(parsedPolicy(found?.policy)), readNotify(namespace?.notify)],
    quiet: [],
    schedule: null,
    key: { subject: 'queue', subjectId: (found?.id as number | undefined) ?? 0 },
  }
}

function toldOf({ ns }: StoreContext, event: NoticeEvent, { key, ...place }: Subject): ChosenNotice[] {
  const target = noticeTarget(event, place.levels)
  if (target === null) return []
  const nothing = { runId: null, attempt: null, failuresInARow: null }
  return [
    { of: { ...key, ...place, ns, event, reason, ...nothing, isTest: true, isCounted: false }, target, suppressed: 0 },
  ]
}
