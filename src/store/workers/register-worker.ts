import { formatId } from '../../core/id.ts'
import { checkInteger, checkText, jsonText, keyLengthMax, nameLengthMax } from '../check.ts'
import type { BeatOptions, NewWorker } from '../port.ts'
import { both, clockNow, dialects, each, freshIds, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { workerIdOf } from './take-duty.ts'

const fresh = tables.worker.but('stoppedAt', 'diedAt', 'isHost', 'lost')
const insertWorker = both('worker insert', fresh.insertOne())
/**
 * A stop is final: a beat in flight when its worker stopped does not revive it. A death is reported by another worker, so it
 * does not change the last heartbeat of the dead one.
 */
const beatWorkers = dialects('worker beat', {
  sqlite: `update belfry.worker set beat_at = case when stopped_at is null and $6 = 0 then $3 else beat_at end,
      stopped_at = case when $4 = 1 then coalesce(stopped_at, $3) else stopped_at end, can = coalesce($5, can),
      died_at = case when $6 = 1 and stopped_at is null then $3 else died_at end,
      halted = case when $4 = 1 then halted else $7 end
    where id = $1 and ns = $2 returning id`,
  postgres: `update belfry.worker w set beat_at = case when w.stopped_at is null and i.died = 0 then i.now else w.beat_at end,
      stopped_at = case when i.stopped = 1 then coalesce(w.stopped_at, i.now) else w.stopped_at end,
      can = coalesce(i.can, w.can), died_at = case when i.died = 1 and w.stopped_at is null then i.now else w.died_at end,
      halted = case when i.stopped = 1 then w.halted else i.halted end
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::int[], $7::text[])
      as i (id, ns, now, stopped, can, died, halted)
    where w.id = i.id and w.ns = i.ns returning w.id`,
})

const beatMsMax = 86_400_000
const pidMax = 2 ** 31 - 1

/** Registers a process as a worker. Its id is new with every start, so a dead one is never mistaken for it. */
export function* registerWorker(context: StoreContext, worker: NewWorker): Step<string> {
  const { name, host, can, slots, beatMs, halted = null, process } = worker
  checkText(name, 'name', nameLengthMax)
  checkText(host, 'host', nameLengthMax)
  checkInteger(beatMs, 'beatMs', 1, beatMsMax)
  if (slots !== undefined) checkInteger(slots, 'slots', 0, 1_000_000)
  if (process !== undefined) checkProcess(process)
  jsonText(can, 'can')
  const now = yield* clockNow()
  const [id] = (yield* freshIds(1)) as [number]
  const { pid = null, startedAt: pidStartedAt = null, bootId = null, pidNamespace = null } = process ?? {}
  const known = { pid, pidStartedAt, bootId, pidNamespace, can, slots: slots ?? null, halted }
  const times = { startedAt: now, beatAt: now, beatMs }
  yield* one(insertWorker, ...fresh.tuple({ id, ns: context.ns, name, host, ...known, ...times }))
  return formatId('worker', id)
}

function checkProcess(process: NonNullable<NewWorker['process']>): void {
  checkInteger(process.pid, 'process.pid', 1, pidMax)
  for (const field of ['startedAt', 'bootId', 'pidNamespace'] as const) {
    checkText(process[field], `process.${field}`, keyLengthMax)
  }
}

/** Records that workers are alive, stopped, died, or have new capabilities. A worker that the store does not know must register again. */
export function* beat(
  context: StoreContext,
  workerIds: readonly string[],
  { stopped = false, died = false, can, halted = null }: BeatOptions = {},
): Step<{ unknown: string[] }> {
  const ids = [...new Set(workerIds)].map((text) => workerIdOf(text, 'workerIds'))
  const canText = can === undefined ? null : jsonText(can, 'can')
  const now = yield* clockNow()
  const rows = yield* each<{ id: number }>(
    beatWorkers,
    ids.map((id) => [id, context.ns, now, stopped || died ? 1 : 0, canText, died ? 1 : 0, halted]),
  )
  const known = new Set(rows.map(({ id }) => id))
  return { unknown: ids.filter((id) => !known.has(id)).map((id) => formatId('worker', id)) }
}
