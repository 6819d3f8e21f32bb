import { hostname } from 'node:os'
import { all, both, clockNow, run, type Step } from '../../../store/statement.ts'
import type { Corpus } from '../corpus-row.ts'

const save = both(
  'corpus save watcher',
  `insert into belfry.corpus_watcher (corpus_id, host, state, at) values ($1, $2, $3, $4)
    on conflict (corpus_id, host) do update set state = excluded.state, at = excluded.at`,
)
const removeOld = both(
  'corpus remove old watchers',
  'delete from belfry.corpus_watcher where corpus_id = $1 and at < $2',
)
const list = both(
  'corpus list watchers',
  'select host, state, at from belfry.corpus_watcher where corpus_id = $1 order by host',
)

/** A machine that has written nothing for this long no longer has a worker; ticks may be days apart. */
const stateMsMax = 30 * 86_400_000

export interface WatcherState {
  readonly url: string
  /** Since when the watcher answers, or fails. */
  readonly since: number | null
  readonly registeredAt: number | null
  /** Why the watcher cannot be used now, as a clause; null if it answers. */
  readonly error: string | null
  readonly failures: number
  readonly openUntil: number | null
}

/** Records what a worker of this machine knows of the external watcher. */
export function* noteWatcher(_: unknown, corpusId: number, state: WatcherState): Step<void> {
  const now = yield* clockNow()
  yield* run(removeOld, corpusId, now - stateMsMax)
  yield* run(save, corpusId, hostname(), JSON.stringify(state), now)
}

/** What each machine knows of the watcher in the corpus's current definition. */
export function* watchersOf({ id, spec }: Corpus): Step<(WatcherState & { host: string; at: number })[]> {
  if (spec.watcher === undefined) return []
  const rows = (yield* all(list, id)).map((row) => ({
    host: row.host as string,
    ...(JSON.parse(row.state as string) as WatcherState),
    at: row.at as number,
  }))
  return rows.filter(({ url }) => url === spec.watcher?.url)
}
