import { bandOf, type RankedItem, stalenessOf } from '../../../core/corpus/rank.ts'
import { all, both, clockNow, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, phaseNames } from '../corpus-row.ts'
import { findItem, type Item } from './item-row.ts'
import { aheadInGroup } from './list-items.ts'
import { type Group, type Line, lineOf } from './pick-item.ts'

export interface ItemExplained {
  readonly now: number
  readonly item: Item
  readonly band: number | null
  readonly staleness: ReturnType<typeof stalenessOf>
  /** The rank of the item among those that may be picked, from 1; null if the item may not be picked. */
  readonly place: number | null
  readonly pending: number
  /** Whether the next pick goes by bands, or by staleness alone. */
  readonly by: Line['by']
  readonly ahead: readonly RankedItem[]
  /** The items that are looked at again when the content of this item changes. */
  readonly readers: readonly string[]
}

/** The age key of an item that was never generated, and one that no item has. */
const neverAge = -1
const noAge = -2
const countOlder = both(
  'corpus count older',
  `select count(*) as items from belfry.corpus_item where corpus_id = $1 and status = 'pending' and phase = $2 and depth = $3
    and emphasis = $4 and (age_key < $5 or age_key = $6 and path < $7)`,
)
const findReaders = both(
  'corpus readers',
  'select path from belfry.corpus_ref where corpus_id = $1 and target = $2 order by path limit 20',
)

/** `item` is the item as it is now; its row may be older. */
export function* explainItem(_: StoreContext, corpus: Corpus, item: Item): Step<ItemExplained> {
  const now = yield* clockNow()
  const { groups, ranked, minDepth, by } = yield* lineOf(corpus, 3)
  const staleness = stalenessOf(item, { now, depthWeight: corpus.spec.depthWeight, minDepth })
  const pending = groups.filter(({ status }) => status === 'pending')
  const names = phaseNames(corpus)
  const referrers = yield* all<{ path: string }>(findReaders, corpus.id, item.path)
  const others = [...(item.parent === null ? [] : [item.parent]), ...referrers.map((row) => row.path)]
  const readers = [...new Set(others)].filter((other) => other !== item.path)
  const isInLine = item.status === 'pending'
  const isCounted = (yield* findItem(corpus.id, item.path))?.status === 'pending'
  let before = isInLine ? yield* aheadInGroup(corpus.id, item) : 0
  for (const group of isInLine ? pending : []) {
    if (!isSameGroup(group, item))
      before += yield* aheadOf(corpus, { group, item, staleness, now, minDepth, names, by })
  }
  return {
    now,
    item,
    by,
    band: item.phase === '' ? null : bandOf(item.phase, names),
    staleness,
    place: isInLine ? before + 1 : null,
    pending: pending.reduce((sum, { items }) => sum + items, 0) + (isInLine && !isCounted ? 1 : 0),
    ahead: ranked.slice(0, isInLine ? before : 0).slice(0, 2),
    readers,
  }
}

function isSameGroup(group: Group, item: Item): boolean {
  return group.phase === item.phase && group.depth === item.depth && group.emphasis === item.emphasis
}

interface Comparing {
  readonly group: Group
  readonly item: Item
  readonly staleness: ReturnType<typeof stalenessOf>
  readonly now: number
  readonly minDepth: number
  readonly names: readonly string[]
  readonly by: Line['by']
}

/** How many items of another group go before an item, by the order of `rankItems`: those with a higher weighted age, ties by path. */
function* aheadOf(corpus: Corpus, { group, item, staleness, now, minDepth, names, by }: Comparing): Step<number> {
  const [band, own] = [bandOf(group.phase, names), bandOf(item.phase, names)]
  if (by === 'bands' && band !== own) return band < own ? group.items : 0
  const weight = { now, depthWeight: corpus.spec.depthWeight, minDepth }
  const { depthFactor } = stalenessOf({ ...group, generatedAt: null }, weight)
  const isAlike = depthFactor === staleness.depthFactor
  const mine = staleness.seconds === null ? null : staleness.seconds * staleness.depthFactor
  // An item that was never generated goes before all generated items; among items that were never generated the depth decides.
  const olderThan =
    mine === null
      ? depthFactor > staleness.depthFactor
        ? 0
        : neverAge
      : isAlike
        ? (item.generatedAt ?? now)
        : now - (mine / depthFactor) * 1_000
  const tie = mine === null && !isAlike ? noAge : Number.isInteger(olderThan) ? olderThan : noAge
  const row = yield* one<{ items: number }>(
    countOlder,
    corpus.id,
    group.phase,
    group.depth,
    group.emphasis,
    Math.ceil(olderThan),
    tie,
    item.path,
  )
  return Number(row?.items ?? 0)
}
