import { payloadBytesMax } from '../../core/run/payload.ts'
import { calendarsIn } from '../../core/target.ts'
import { writeAudit } from '../../store/audit/write-audit.ts'
import { namedCalendars } from '../../store/calendars/named-calendars.ts'
import {
  canBeName,
  canonicalJson,
  checkActor,
  checkFields,
  checkText,
  jsonText,
  nameLengthMax,
} from '../../store/check.ts'
import type { Actor } from '../../store/port.ts'
import { reasonLengthMax } from '../../store/runs/cancel-run.ts'
import { both, clockNow, dialects, freshIds, metOthers, one, type Row, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { routineViewOf } from './read-routines.ts'
import type { NewRoutine, RoutineAnswer, RoutineSwitch, RoutineView } from './routine-spec.ts'
import { routineColumns } from './routine-spec.ts'

const insertRoutine = both(
  'routine insert',
  `insert into belfry.routine (id, ns, name, spec, disabled_at, disabled_reason, created_at, created_by, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $7)
    on conflict (ns, name) where deleted_at is null do nothing returning ${routineColumns}`,
)
const findLive = both(
  'routine find live',
  `select ${routineColumns} from belfry.routine where ns = $1 and name = $2 and deleted_at is null`,
)
const lockNamed = dialects('routine lock named', {
  sqlite: `select ${routineColumns} from belfry.routine where ns = $1 and name = $2 and deleted_at is null`,
  postgres: `select ${routineColumns} from belfry.routine where ns = $1 and name = $2 and deleted_at is null for no key update`,
})
const markDeleted = both('routine mark deleted', 'update belfry.routine set deleted_at = $2 where id = $1')
const saveSwitch = both(
  'routine save switch',
  'update belfry.routine set disabled_at = $2, disabled_reason = $3, updated_at = $4 where id = $1',
)

const racesMax = 3

/** Creates a routine, unless its name is in use; an existing one with the same spec counts as created. */
export function* createRoutine(
  context: StoreContext,
  routine: NewRoutine,
  { actor }: { readonly actor: Actor },
): Step<RoutineAnswer> {
  const { name, disabledReason } = routine
  const text = checked(routine)
  checkActor(actor)
  const uses = calendarsIn(routine.spec.run?.options)
  if (uses.length > 0) yield* namedCalendars(context, uses, { where: 'run.calendar' })
  const now = yield* clockNow()
  const disabledAt = disabledReason === undefined ? null : now
  for (let races = 1; races <= racesMax; races++) {
    const [id] = (yield* freshIds(1)) as [number]
    const row = yield* one(
      insertRoutine,
      ...[id, context.ns, name, text, disabledAt, disabledReason ?? null, now, actor.name],
    )
    if (row !== undefined) {
      yield* writeAudit(context, { actor, verb: 'routine.create', subject: `routine ${name}` }, now)
      return { answer: 'created', routine: routineViewOf(row) }
    }
    const found = yield* one(findLive, context.ns, name)
    // The existing routine was deleted meanwhile: its name is free, and the next try takes the
    // name.
    if (found !== undefined) return standing(routineViewOf(found), routine)
  }
  throw metOthers(`Routine ${name} was created and deleted ${racesMax} times during this call.`)
}
createRoutine.rehearses = true as const

const routineFields: ReadonlySet<string> = new Set<keyof NewRoutine>(['name', 'spec', 'disabledReason'])

function checked(routine: NewRoutine): string {
  checkFields(routine, 'routine', routineFields)
  checkText(routine.name, 'name', nameLengthMax)
  if (routine.disabledReason !== undefined) checkText(routine.disabledReason, 'reason', reasonLengthMax)
  return jsonText(routine.spec, 'routine', payloadBytesMax)
}

/** A caller that wants to create a disabled routine does not mean the enabled one that exists. */
function standing(found: RoutineView, { spec, disabledReason }: NewRoutine): RoutineAnswer {
  const isSame = canonicalJson(found.spec) === canonicalJson(spec)
  const isWished = disabledReason === undefined || found.disabled !== null
  return { answer: isSame && isWished ? 'unchanged' : 'exists', routine: found }
}

export function* deleteRoutine(
  context: StoreContext,
  name: string,
  { actor }: { readonly actor: Actor },
): Step<'deleted' | 'not-found'> {
  checkActor(actor)
  const row = yield* lockRoutine(context, name)
  if (row === null) return 'not-found'
  const now = yield* clockNow()
  yield* run(markDeleted, row.id as number, now)
  yield* writeAudit(context, { actor, verb: 'routine.delete', subject: `routine ${name}` }, now)
  return 'deleted'
}
deleteRoutine.rehearses = true as const

/** A disabled routine keeps its instant, and gets the new reason. */
export function* switchRoutine(
  context: StoreContext,
  name: string,
  { disabledReason, actor }: RoutineSwitch,
): Step<'switched' | 'unchanged' | 'not-found'> {
  if (disabledReason !== null) checkText(disabledReason, 'reason', reasonLengthMax)
  checkActor(actor)
  const row = yield* lockRoutine(context, name)
  if (row === null) return 'not-found'
  if (row.disabled_reason === disabledReason) return 'unchanged'
  const now = yield* clockNow()
  const disabledAt = disabledReason === null ? null : (row.disabled_at ?? now)
  yield* run(saveSwitch, row.id as number, disabledAt as number | null, disabledReason, now)
  const verb = disabledReason === null ? 'routine.enable' : 'routine.disable'
  const detail = disabledReason === null ? {} : { detail: { reason: disabledReason } }
  yield* writeAudit(context, { actor, verb, subject: `routine ${name}`, ...detail }, now)
  return 'switched'
}

/** Locks the routine with this name; every change and every event takes this lock. */
export function* lockRoutine({ ns }: StoreContext, name: string): Step<Row | null> {
  if (!canBeName(name)) return null
  return (yield* one(lockNamed, ns, name)) ?? null
}
