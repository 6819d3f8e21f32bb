import { all, both, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { findItem, type Item, type ItemStatus, itemOf } from './item-row.ts'

const columns =
  'corpus_id, path, parent, depth, emphasis, status, phase, age_key, state, attempts, next_at, reason, run_id, revision, hash, is_dirty, looked_at, facts, document'
const listChildren = both(
  'corpus list children',
  'select path from belfry.corpus_item where corpus_id = $1 and parent = $2 order by path',
)
const listPage = both(
  'corpus list items',
  ({ texts }) => `select ${columns} from belfry.corpus_item where corpus_id = $1 and path > $2 and status ${texts('$3')}
    order by path limit $4`,
)
const listDirty = both(
  'corpus list dirty',
  `select ${columns} from belfry.corpus_item where corpus_id = $1 and is_dirty = 1 order by path limit $2`,
)
const listDue = both(
  'corpus list due',
  `select ${columns} from belfry.corpus_item where corpus_id = $1 and next_at <= $2 order by next_at limit $3`,
)
const listPaths = both(
  'corpus list paths',
  'select path from belfry.corpus_item where corpus_id = $1 and path > $2 order by path limit $3',
)
const listUnder = both(
  'corpus list under',
  `select ${columns} from belfry.corpus_item where corpus_id = $1 and path >= $2 and path < $3 order by path`,
)
const countAhead = both(
  'corpus count ahead',
  `select count(*) as items from belfry.corpus_item where corpus_id = $1 and status = 'pending' and phase = $2 and depth = $3
    and emphasis = $4 and (age_key, path) < ($5, $6)`,
)

export function* childPaths(_: unknown, corpusId: number, path: string): Step<string[]> {
  return (yield* all<{ path: string }>(listChildren, corpusId, path)).map((row) => row.path)
}

export interface ItemPage {
  readonly statuses: readonly ItemStatus[]
  readonly after?: string | undefined
  readonly limit: number
}

export const everyStatus: readonly ItemStatus[] = [
  'pending',
  'running',
  'failed',
  'parked',
  'fresh',
  'disabled',
  'unreadable',
]

export function* itemPage(_: StoreContext, corpusId: number, { statuses, after = '', limit }: ItemPage): Step<Item[]> {
  return (yield* all(listPage, corpusId, after, JSON.stringify(statuses), limit)).map(itemOf)
}

export function* dirtyItems(_: StoreContext, corpusId: number, limit: number): Step<Item[]> {
  return (yield* all(listDirty, corpusId, limit)).map(itemOf)
}

export function* dueItems(corpusId: number, now: number, limit: number): Step<Item[]> {
  return (yield* all(listDue, corpusId, now, limit)).map(itemOf)
}

export function* itemPaths(_: StoreContext, corpusId: number, after: string, limit: number): Step<string[]> {
  return (yield* all<{ path: string }>(listPaths, corpusId, after, limit)).map((row) => row.path)
}

/** The items below a folder. */
export function* itemsUnder(corpusId: number, path: string): Step<Item[]> {
  return (yield* all(listUnder, corpusId, `${path}/`, `${path}0`)).map(itemOf)
}

export function* readItem(_: StoreContext, corpusId: number, path: string): Step<Item | null> {
  return yield* findItem(corpusId, path)
}

/** How many of its own group come before an item. */
export function* aheadInGroup(
  corpusId: number,
  { phase, depth, emphasis, generatedAt, path }: Pick<Item, 'phase' | 'depth' | 'emphasis' | 'generatedAt' | 'path'>,
): Step<number> {
  const row = yield* one<{ items: number }>(countAhead, corpusId, phase, depth, emphasis, generatedAt ?? -1, path)
  return Number(row?.items ?? 0)
}
