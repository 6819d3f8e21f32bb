import { isRecord } from '../../core/json/record.ts'
import { checkInteger, invalid } from '../../store/check.ts'
import { all, both, one, type Row, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { Notify } from './notice.ts'
import { noticeEvents, notifyNames } from './notice-events.ts'
import type { Notices } from './notice-operations.ts'
import { noticeTable } from './notice-row.ts'
import { parsedPolicy, readNotify, receiversIn } from './notify-setting.ts'

const selectNotify = both('read notify', 'select notify from belfry.namespace where id = $1')
const findPolicies = both(
  'read notify policies',
  'select name, policy from belfry.queue where ns = $1 and deleted_at is null order by id',
)
const findNotices = both(
  'read notices',
  `select ${noticeTable.columns('n')}, s.name as schedule, q.name as queue from belfry.notice n
    left join belfry.schedule s on n.subject = 'schedule' and s.id = n.subject_id
    left join belfry.queue q on n.subject = 'queue' and q.id = n.subject_id
    where n.ns = $1 and n.last_at is not null and (n.last_at, n.subject, n.subject_id, n.event) < ($3, $4, $5, $6)
    order by n.last_at desc, n.subject desc, n.subject_id desc, n.event desc limit $2`,
)

export interface NotifySetting {
  /** The queue whose policy has it; `null` for the whole namespace. */
  readonly queue: string | null
  /** `null` where it cannot be read; then no notification is sent. */
  readonly notify: Notify | null
}

/** The place of a notification in the list: when the last one was sent, what it is about, and its event. */
export type NoticeCursor = readonly [lastAt: number, subject: string, subjectId: number, event: string]

export const noticeCursorExpected = 'the `next` of the page before'

const noticePattern = new RegExp(
  `^(-?\\d{1,16})\\.(queue|schedule|[a-z]+ .{1,300})\\.(\\d{1,16})\\.(${noticeEvents.join('|')})$`,
)

export function noticeCursorIn(text: string): NoticeCursor | null {
  const [, lastAt, subject = '', subjectId, event = ''] = noticePattern.exec(text) ?? []
  const place: NoticeCursor = [Number(lastAt), subject, Number(subjectId), event]
  return Number.isSafeInteger(place[0]) && Number.isSafeInteger(place[2]) ? place : null
}

const pageMax = 1_000

export function* findNotify({ ns }: StoreContext): Step<Notify> {
  return readNotify((yield* one(selectNotify, ns))?.notify) ?? {}
}

export function* notifySettings({ ns }: StoreContext): Step<NotifySetting[]> {
  const { notify } = (yield* one(selectNotify, ns)) ?? {}
  const ofNamespace = typeof notify === 'string' ? [{ queue: null, notify: readNotify(notify) }] : []
  return [...ofNamespace, ...(yield* all<{ name: string; policy: string }>(findPolicies, ns)).flatMap(settingOf)]
}

function settingOf({ name, policy }: { readonly name: string; readonly policy: string }): NotifySetting[] {
  const said = parsedPolicy(policy)
  const named = isRecord(said) ? notifyNames.filter((field) => said[field] !== undefined) : []
  if (named.length === 0) return []
  const notify = receiversIn(said)
  return [{ queue: name, notify: Object.keys(notify).length === named.length ? notify : null }]
}

export function* listNotices(
  { ns }: StoreContext,
  { limit, before }: { limit: number; before?: string },
): Step<Omit<Notices, 'notify'>> {
  checkInteger(limit, 'limit', 1, pageMax)
  const rows = yield* all(findNotices, ns, limit + 1, ...placeIn(before))
  const last = rows.length <= limit ? undefined : rows[limit - 1]
  return { told: rows.slice(0, limit).map(viewOf), next: last === undefined ? null : placeOf(last) }
}

/** Before the place of every notice. */
const newest: NoticeCursor = [Number.MAX_SAFE_INTEGER, '', 0, '']

function placeOf({ last_at, subject, subject_id, event }: Row): string {
  return [last_at, subject, subject_id, event].join('.')
}

function placeIn(before: string | undefined): NoticeCursor {
  if (before === undefined) return newest
  const place = noticeCursorIn(String(before))
  if (place === null) throw invalid('before', `is ${JSON.stringify(before)}`, noticeCursorExpected)
  return place
}

function viewOf(row: Row): Notices['told'][number] {
  const { event, subject, lastAt, suppressed, isOpen } = noticeTable.read(row)
  return {
    event,
    schedule: row.schedule as string | null,
    queue: row.queue as string | null,
    about: subject === 'schedule' || subject === 'queue' ? null : subject,
    at: lastAt ?? 0,
    suppressed,
    isOpen,
  }
}
