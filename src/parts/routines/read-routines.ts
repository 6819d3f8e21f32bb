import { formatId, parseId } from '../../core/id.ts'
import { canBeName, checkInteger, invalid } from '../../store/check.ts'
import { runTextOf } from '../../store/reads/find-run.ts'
import { all, both, one, type Row, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { shown } from '../../store/table-codec.ts'
import { routineEventCursorIn } from './event-cursor.ts'
import type { EventOutcome, RoutineEventView, RoutineSpec, RoutineView } from './routine-spec.ts'
import { eventColumns, eventIds, routineColumns, routineIds } from './routine-spec.ts'

const selectRoutine = both(
  'read routine',
  `select ${routineColumns} from belfry.routine where ns = $1 and name = $2 and deleted_at is null`,
)
const findRoutines = both(
  'read routines',
  `select ${routineColumns} from belfry.routine where ns = $1 and name > $2 and deleted_at is null order by name limit $3`,
)
const findEvents = both(
  'read routine events',
  `select ${eventColumns} from belfry.routine_event where routine_id = $1 and (at, id) < ($2, $3)
    order by at desc, id desc limit $4`,
)

const pageDefault = 100
const pageMax = 1_000
/** Events carry their payloads, so their pages are smaller. */
const eventsDefault = 20
const eventsMax = 100

export function* findRoutine({ ns }: StoreContext, name: string): Step<RoutineView | null> {
  const row = canBeName(name) ? yield* one(selectRoutine, ns, name) : undefined
  return row === undefined ? null : routineViewOf(row)
}

export function* listRoutines(
  { ns }: StoreContext,
  { after = '', limit = pageDefault }: { after?: string; limit?: number } = {},
): Step<RoutineView[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  if (!canBeName(after)) throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a routine')
  return (yield* all(findRoutines, ns, after, limit)).map(routineViewOf)
}

export function* listRoutineEvents(
  context: StoreContext,
  name: string,
  { before, limit = eventsDefault }: { before?: string; limit?: number } = {},
): Step<RoutineEventView[] | null> {
  checkInteger(limit, 'limit', 1, eventsMax)
  const place = before === undefined ? { at: Number.MAX_SAFE_INTEGER, id: 0 } : routineEventCursorIn(before)
  if (place === null) throw invalid('before', `is ${JSON.stringify(before)}`, 'the instant and the id of an event')
  const found = yield* findRoutine(context, name)
  const routineId = found === null ? null : parseId(routineIds, found.id)
  return routineId === null ? null : (yield* all(findEvents, routineId, place.at, place.id, limit)).map(eventViewOf)
}

export function routineViewOf(row: Row): RoutineView {
  const { disabled_at: disabledAt } = row as { disabled_at: number | null }
  return {
    id: formatId(routineIds, row.id as number),
    name: row.name as string,
    spec: shown(row.spec) as RoutineSpec,
    disabled: disabledAt === null ? null : { at: disabledAt, reason: row.disabled_reason as string },
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
    updatedAt: row.updated_at as number,
  }
}

function eventViewOf(row: Row): RoutineEventView {
  return {
    id: formatId(eventIds, row.id as number),
    deliveryId: row.delivery_id as string,
    at: row.at as number,
    type: row.type as string | null,
    outcome: row.outcome as EventOutcome,
    reason: row.reason as string | null,
    runId: runTextOf(row.run_id),
    repeats: row.repeats as number,
    actor: row.actor as string,
    door: row.door as string,
    payload: { value: shown(row.payload), truncated: row.is_cut === 1 },
  }
}
