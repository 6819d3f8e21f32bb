import { bandOf, type RankedItem, stalenessOf } from '../../../core/corpus/rank.ts'
import { all, both, clockNow, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, phaseNames } from '../corpus-row.ts'
import { findItem, type Item } from './item-row.ts'
import { aheadInGroup } from './list-items.ts'
import { type Group, lineOf } from './pick-item.ts'

export interface ItemExplained {
  readonly now: number
  readonly item: Item
  readonly band: number | null
  readonly staleness: ReturnType<typeof stalenessOf>
  /** Its place among those that may be picked, from 1; null where it may not. */
  readonly place: number | null
  readonly pending: number
  readonly ahead: readonly RankedItem[]
  /** The items that its content would make look again. */
  readonly readers: readonly string[]
}

const countOlder = both(
  'corpus count older',
  `select count(*) as items from belfry.corpus_item where corpus_id = $1 and status = 'pending' and phase = $2 and depth = $3
    and emphasis = $4 and age_key < $5`,
)
const findReaders = both(
  'corpus readers',
  'select path from belfry.corpus_ref where corpus_id = $1 and target = $2 order by path limit 20',
)

export function* explainItem(_: StoreContext, corpus: Corpus, path: string): Step<ItemExplained | null> {
  const item = yield* findItem(corpus.id, path)
  if (item === null) return null
  const now = yield* clockNow()
  const { groups, ranked, minDepth } = yield* lineOf(corpus, 3)
  const staleness = stalenessOf(item, { now, depthWeight: corpus.spec.depthWeight, minDepth })
  const pending = groups.filter(({ status }) => status === 'pending')
  const names = phaseNames(corpus)
  const referrers = yield* all<{ path: string }>(findReaders, corpus.id, path)
  const readers = [...(item.parent === null ? [] : [item.parent]), ...referrers.map((row) => row.path)]
  const isInLine = item.status === 'pending'
  let before = isInLine ? yield* aheadInGroup(corpus.id, item) : 0
  for (const group of isInLine ? pending : []) {
    if (!isSameGroup(group, item)) before += yield* aheadOf(corpus, { group, item, staleness, now, minDepth, names })
  }
  return {
    now,
    item,
    band: item.phase === '' ? null : bandOf(item.phase, names),
    staleness,
    place: isInLine ? before + 1 : null,
    pending: pending.reduce((sum, { items }) => sum + items, 0),
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
}

/** How many of another group go before an item: those whose age, weighted, is more. */
function* aheadOf(corpus: Corpus, { group, item, staleness, now, minDepth, names }: Comparing): Step<number> {
  const [band, own] = [bandOf(group.phase, names), bandOf(item.phase, names)]
  if (band !== own) return band < own ? group.items : 0
  const weight = { now, depthWeight: corpus.spec.depthWeight, minDepth }
  const { depthFactor } = stalenessOf({ ...group, generatedAt: null }, weight)
  const mine = staleness.seconds === null ? null : staleness.seconds * staleness.depthFactor
  // A never generated item goes before all that were, and among its like by depth.
  const olderThan = mine === null ? (depthFactor > staleness.depthFactor ? 0 : -1) : now - (mine / depthFactor) * 1_000
  const row = yield* one<{ items: number }>(
    countOlder,
    corpus.id,
    group.phase,
    group.depth,
    group.emphasis,
    Math.ceil(olderThan),
  )
  return Number(row?.items ?? 0)
}
