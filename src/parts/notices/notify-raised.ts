import assert from 'node:assert'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import type { Raised } from '../../store/raise.ts'
import { both, clockNow, one, type Row, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { noticeTarget } from './notice.ts'
import { events, type NoticeEvent } from './notice-events.ts'
import { type Happening, placeOf, placesColumns, sendNotices } from './notify-ends.ts'
import { readNotify } from './notify-setting.ts'

const findNamespace = both('notice find namespace', 'select name, notify from belfry.namespace where id = $1')
const findSchedule = both(
  'notice find raised schedule',
  `select s.id, s.name, s.spec, ${placesColumns} from belfry.schedule s join belfry.queue q on q.id = s.queue_id
    join belfry.namespace n on n.id = s.ns where s.id = $1`,
)

/** Enqueues notices of what other parts raise. */
export function* notifyRaised(context: StoreContext, raised: readonly Raised[]): Step<void> {
  const namespace = yield* one(findNamespace, context.ns)
  const happenings: Happening[] = []
  for (const each of raised) {
    assert(Object.hasOwn(events, each.event), `${each.event} is no event of notifications`)
    const schedule = each.scheduleId === undefined ? undefined : yield* one(findSchedule, each.scheduleId)
    const happening = happeningOf(context, each, { namespace, schedule })
    if (noticeTarget(happening.event, happening.levels) !== null) happenings.push(happening)
  }
  if (happenings.length > 0) yield* sendNotices(context, yield* clockNow(), happenings)
}

interface Rows {
  readonly namespace: Row | undefined
  readonly schedule: Row | undefined
}

function happeningOf({ ns }: StoreContext, raised: Raised, { namespace, schedule }: Rows): Happening {
  const { event, about, scheduleId, runId = null, happened, reason, paragraph, otherwise } = raised
  const nothing = { runId, attempt: null, failuresInARow: null, isCounted: true }
  const facts = { ...nothing, reason, event: event as NoticeEvent, ...onlyGiven({ happened, question: paragraph }) }
  const last = { [events[facts.event].field]: otherwise }
  if (schedule !== undefined && scheduleId !== undefined) {
    const place = placeOf(schedule, JSON.parse(String(schedule.spec)))
    const subject = { ns, subject: 'schedule', subjectId: scheduleId, schedule: schedule.name as string } as const
    return { ...facts, ...subject, ...place, levels: [...place.levels, last], ...onlyGiven({ about }) }
  }
  const notify = readNotify(namespace?.notify)
  return {
    ...facts,
    ...{ ns, subject: about ?? 'namespace', subjectId: 0, schedule: null, queue: null },
    ...{ namespace: String(namespace?.name), levels: [notify, last], quiet: notify?.quiet ?? [] },
    about: about ?? `namespace ${namespace?.name}`,
  }
}
