import type { Notify } from '../../core/notice.ts'
import { type NoticePlace, noticePlaceExpected, noticePlaceIn } from '../../core/page-place.ts'
import { checkInteger, invalid } from '../check.ts'
import { columnsOf } from '../columns.ts'
import type { StoreContext } from '../context.ts'
import { noticeRowOf } from '../notice-row.ts'
import type { NoticePage, NoticeView, NotifySetting } from '../notice-steps.ts'
import { readNotify } from '../notify-setting.ts'
import { all, both, one, type Row, type Step } from '../statement.ts'

const selectNotify = both('read notify', 'select notify from belfry.namespace where id = $1')
const findSettings = both(
  'read notify settings',
  `select queue, notify from (select null as queue, 0 as place, notify from belfry.namespace where id = $1
      union all select name, id, notify from belfry.queue where ns = $1) as said
    where notify is not null order by place`,
)
const findNotices = both(
  'read notices',
  `select ${columnsOf('notice', 'n')}, s.name as schedule, q.name as queue from belfry.notice n
    left join belfry.schedule s on n.subject = 'schedule' and s.id = n.subject_id
    left join belfry.queue q on n.subject = 'queue' and q.id = n.subject_id
    where n.ns = $1 and n.last_at is not null and (n.last_at, n.subject, n.subject_id, n.event) < ($3, $4, $5, $6)
    order by n.last_at desc, n.subject desc, n.subject_id desc, n.event desc limit $2`,
)

const pageMax = 1_000

export function* findNotify({ ns }: StoreContext): Step<Notify> {
  return readNotify((yield* one(selectNotify, ns))?.notify) ?? {}
}

export function* notifySettings({ ns }: StoreContext): Step<NotifySetting[]> {
  return (yield* all(findSettings, ns)).map((row) => ({
    queue: row.queue as string | null,
    notify: readNotify(row.notify),
  }))
}

export function* listNotices(
  { ns }: StoreContext,
  { limit, before }: { limit: number; before?: string },
): Step<NoticePage> {
  checkInteger(limit, 'limit', 1, pageMax)
  const rows = yield* all(findNotices, ns, limit + 1, ...placeIn(before))
  const last = rows.length <= limit ? undefined : rows[limit - 1]
  return { told: rows.slice(0, limit).map(viewOf), next: last === undefined ? null : placeOf(last) }
}

/** Before the place of every notice. */
const newest: NoticePlace = [Number.MAX_SAFE_INTEGER, '', 0, '']

function placeOf({ last_at, subject, subject_id, event }: Row): string {
  return [last_at, subject, subject_id, event].join('.')
}

function placeIn(before: string | undefined): NoticePlace {
  if (before === undefined) return newest
  const place = noticePlaceIn(String(before))
  if (place === null) throw invalid('before', `is ${JSON.stringify(before)}`, noticePlaceExpected)
  return place
}

function viewOf(row: Row): NoticeView {
  const { event, lastAt, suppressed, isOpen } = noticeRowOf(row)
  return {
    event,
    schedule: row.schedule as string | null,
    queue: row.queue as string | null,
    at: lastAt ?? 0,
    suppressed,
    isOpen,
  }
}
