import { all, both, dialects, one, type Statement, type Step } from '../../../store/statement.ts'
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
  `select ${columns} from belfry.corpus_item where corpus_id = $1 and path > $2 order by path limit $3`,
)
const listOfStatus = byIndex(
  'corpus list items of a status',
  'corpus_item_status',
  'where corpus_id = $1 and status = $2 and path > $3 order by path limit $4',
)
const listDirty = byIndex(
  'corpus list dirty',
  'corpus_item_dirty',
  'where corpus_id = $1 and is_dirty = 1 and path > $2 order by path limit $3',
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
const listPathsUnder = both(
  'corpus list paths under',
  'select path from belfry.corpus_item where corpus_id = $1 and path > $2 and path < $3 order by path limit $4',
)
const countAhead = both(
  'corpus count ahead',
  `select count(*) as items from belfry.corpus_item where corpus_id = $1 and status = 'pending' and phase = $2 and depth = $3
    and emphasis = $4 and (age_key, path) < ($5, $6)`,
)

/** Without the index, SQLite would read all items in the order of their paths, the order of the table, to find a few. */
function byIndex(name: string, index: string, rest: string): Statement {
  return dialects(name, {
    sqlite: `select ${columns} from belfry.corpus_item indexed by ${index} ${rest}`,
    postgres: `select ${columns} from belfry.corpus_item ${rest}`,
  })
}

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

/** A page of items. Each given status is read through the index by itself, because only a few of very many items may have it. */
export function* itemPage(_: StoreContext, corpusId: number, { statuses, after = '', limit }: ItemPage): Step<Item[]> {
  if (statuses === everyStatus) return (yield* all(listPage, corpusId, after, limit)).map(itemOf)
  const found: Item[] = []
  for (const status of statuses) found.push(...(yield* all(listOfStatus, corpusId, status, after, limit)).map(itemOf))
  // The order of the databases: the next page begins after the last item of this page.
  return found.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))).slice(0, limit)
}

export function* dirtyItems(
  _: StoreContext,
  corpusId: number,
  { after, limit }: { readonly after: string; readonly limit: number },
): Step<Item[]> {
  return (yield* all(listDirty, corpusId, after, limit)).map(itemOf)
}

export function* dueItems(corpusId: number, now: number, limit: number): Step<Item[]> {
  return (yield* all(listDue, corpusId, now, limit)).map(itemOf)
}

export function* itemPaths(_: StoreContext, corpusId: number, after: string, limit: number): Step<string[]> {
  return (yield* all<{ path: string }>(listPaths, corpusId, after, limit)).map((row) => row.path)
}

/** The paths of the items in a folder and below it. */
export function* pathsWithin(
  context: StoreContext,
  corpusId: number,
  folder: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Step<string[]> {
  if (folder === '.') return yield* itemPaths(context, corpusId, after, limit)
  const first = after === '' && (yield* findItem(corpusId, folder)) !== null ? [folder] : []
  const from = after === '' || after === folder ? `${folder}/` : after
  const below = yield* all<{ path: string }>(listPathsUnder, corpusId, from, `${folder}0`, limit - first.length)
  return [...first, ...below.map(({ path }) => path)]
}

export function* itemsUnder(corpusId: number, path: string): Step<Item[]> {
  return (yield* all(listUnder, corpusId, `${path}/`, `${path}0`)).map(itemOf)
}

export function* readItem(_: StoreContext, corpusId: number, path: string): Step<Item | null> {
  return yield* findItem(corpusId, path)
}

/** How many items of the same group go before an item. */
export function* aheadInGroup(
  corpusId: number,
  { phase, depth, emphasis, generatedAt, path }: Pick<Item, 'phase' | 'depth' | 'emphasis' | 'generatedAt' | 'path'>,
): Step<number> {
  const row = yield* one<{ items: number }>(countAhead, corpusId, phase, depth, emphasis, generatedAt ?? -1, path)
  return Number(row?.items ?? 0)
}
