import type { Notify } from '../../core/notice.ts'
import { checkInteger } from '../check.ts'
import type { StoreContext } from '../context.ts'
import { noticeRowOf } from '../notice-row.ts'
import type { NoticeView } from '../notice-steps.ts'
import { readNotify } from '../notify-setting.ts'
import { all, both, one, type Row, type Step } from '../statement.ts'

const findNotify = both('read notify', 'select notify from belfry.namespace where id = $1')
const findNotices = both(
  'read notices',
  `select n.*, s.name as schedule, q.name as queue from belfry.notice n
    left join belfry.schedule s on n.subject = 'schedule' and s.id = n.subject_id
    left join belfry.queue q on n.subject = 'queue' and q.id = n.subject_id
    where n.ns = $1 and n.last_at is not null
    order by n.last_at desc, n.subject, n.subject_id, n.event limit $2`,
)

const pageMax = 1_000

export function* notify({ ns }: StoreContext): Step<Notify> {
  return readNotify((yield* one(findNotify, ns))?.notify) ?? {}
}

export function* notices({ ns }: StoreContext, { limit }: { limit: number }): Step<NoticeView[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  return (yield* all(findNotices, ns, limit)).map(viewOf)
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
