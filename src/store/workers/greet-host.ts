import { formatId } from '../../core/id.ts'
import type { Capabilities } from '../../core/queue/plan-leases.ts'
import { checkText, jsonText, nameLengthMax } from '../check.ts'
import { both, freshIds, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/** The host's name is its identity; the newest request says what it can execute, and that it is alive. */
const greet = both(
  'host greet',
  `insert into belfry.worker (id, ns, name, host, can, started_at, beat_at, beat_ms, is_host)
    values ($1, $2, $3, $3, $4, $5, $5, $6, 1)
    on conflict (ns, name) where is_host = 1
    do update set can = excluded.can, beat_at = excluded.beat_at, beat_ms = excluded.beat_ms returning id`,
)

/** A host that neither leases nor renews for two of these intervals counts as gone. */
const hostBeatMs = 300_000

/** Records a program that leases through a door, and returns its id as a worker. */
export function* greetHost(
  { ns }: StoreContext,
  { host, can }: { readonly host: string; readonly can: Capabilities },
  now: number,
): Step<string> {
  checkText(host, 'host', nameLengthMax)
  const [fresh] = (yield* freshIds(1)) as [number]
  const row = yield* one<{ id: number }>(greet, fresh, ns, host, jsonText(can, 'can'), now, hostBeatMs)
  return formatId('worker', row?.id ?? fresh)
}
