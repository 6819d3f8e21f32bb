import { hostname } from 'node:os'
import { all, both, clockNow, run, type Step } from '../../store/statement.ts'

const saveWatch = both(
  'corpus save watch',
  `insert into belfry.corpus_watch (corpus_id, host, because, scanned_at) values ($1, $2, $3, $4)
    on conflict (corpus_id, host) do update set because = excluded.because, scanned_at = excluded.scanned_at`,
)
const listWatches = both(
  'corpus list watches',
  'select host, because, scanned_at from belfry.corpus_watch where corpus_id = $1 and scanned_at > $2 order by host',
)

/** A worker writes at least twice a day: an older row belongs to a worker that is gone. */
const watchMsMax = 2 * 86_400_000

export interface Watched {
  readonly host: string
  /** Why the process polls, as a clause; null if it watches. */
  readonly because: string | null
  readonly scannedAt: number
}

/** Records how this machine learns of changes in a tree, and that it has just scanned the whole tree. */
export function* noteWatch(_: unknown, corpusId: number, because: string | null): Step<void> {
  yield* run(saveWatch, corpusId, hostname(), because, yield* clockNow())
}

export function* watchesOf(corpusId: number, now: number): Step<Watched[]> {
  const rows = yield* all(listWatches, corpusId, now - watchMsMax)
  return rows.map((row) => ({
    host: row.host as string,
    because: row.because as string | null,
    scannedAt: row.scanned_at as number,
  }))
}
