import { all, both, clockNow, dialects, freshIds, one, run, type Step } from '../statement.ts'
import { columnsOf, tables } from '../tables.ts'
import { insertHold } from './put-hold.ts'

const markStops = both(
  'stops mark everywhere',
  ({ numbers }) => `update belfry.hold set is_everywhere = 1 where id ${numbers('$1')}`,
)
const findStops = both(
  'stops find everywhere',
  `select ${columnsOf('hold')} from belfry.hold where is_everywhere = 1 and until_at > $1 order by id`,
)

/** SQLite has one writer at a time and needs no lock. */
const lockMaking = dialects('stops lock namespaces', {
  sqlite: null,
  postgres: `select pg_advisory_xact_lock(hashtextextended('belfry namespaces', 0))`,
})

/**
 * Lets a step that stops all namespaces, or lets all go on, and a step that makes a namespace follow each other. Side by side neither
 * would see what the other writes, and the new namespace would not be stopped, or be stopped for good. It is locked before anything else.
 */
export function* lockNamespaces(): Step<void> {
  yield* one(lockMaking)
}

/** Records that these stops are of all namespaces, also of those that are made later. */
export function* markEverywhere(holdIds: readonly number[]): Step<void> {
  yield* run(markStops, JSON.stringify(holdIds))
}

/** Stops a new namespace where all namespaces are stopped: what must not start must not start through a namespace that did not exist yet. */
export function* stopAsEverywhere(ns: number): Step<void> {
  const found = (yield* all(findStops, yield* clockNow())).map((row) => tables.hold.read(row))
  const subjects = new Map(found.map((hold) => [`${hold.scope} ${hold.subject}`, hold]))
  for (const hold of subjects.values()) {
    const [id] = (yield* freshIds(1)) as [number]
    yield* run(insertHold, ...tables.hold.tuple({ ...hold, id, ns, isEverywhere: false }))
  }
}
