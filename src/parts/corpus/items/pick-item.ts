import { type RankedItem, rankItems } from '../../../core/corpus/rank.ts'
import { all, both, clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, findCorpus, phaseNames } from '../corpus-row.ts'
import { type Item, itemOf } from './item-row.ts'

export interface Group {
  readonly status: Item['status']
  readonly phase: string
  readonly depth: number
  readonly emphasis: number
  readonly items: number
}

const listGroups = both(
  'corpus groups',
  'select status, phase, depth, emphasis, items from belfry.corpus_group where corpus_id = $1 and items > 0',
)
const columns =
  'corpus_id, path, parent, depth, emphasis, status, phase, age_key, state, attempts, next_at, reason, run_id, revision, hash, is_dirty, looked_at, facts, document'
const headOf = both(
  'corpus group head',
  `select ${columns} from belfry.corpus_item where corpus_id = $1 and status = 'pending' and phase = $2 and depth = $3
    and emphasis = $4 order by age_key, path limit $5`,
)
const wholeLine = both(
  'corpus line',
  `select ${columns} from belfry.corpus_item where corpus_id = $1 and status = 'pending'`,
)

/** Above this many groups reading all items costs less. */
export const groupsMax = 1_000
/** Every so many picks the bands are left out, so that items that wait for their first phase are reached however much is begun. */
export const fairEvery = 20

export function* groupsOf(corpusId: number): Step<Group[]> {
  return yield* all<Group & Record<string, never>>(listGroups, corpusId)
}

export interface Line {
  readonly now: number
  readonly ranked: readonly RankedItem[]
  readonly minDepth: number
  readonly groups: readonly Group[]
  readonly by: 'bands' | 'staleness'
}

/**
 * The head of the line: the same ranking for the tick, the queue, previews and explanations. In a group all items have the same
 * weight, so that the oldest of each group are enough to know the first `count` of all.
 */
export function* lineOf(corpus: Corpus, count: number): Step<Line> {
  const now = yield* clockNow()
  const groups = yield* groupsOf(corpus.id)
  const pending = groups.filter(({ status }) => status === 'pending')
  const items: Item[] = []
  if (pending.length > groupsMax) items.push(...(yield* all(wholeLine, corpus.id)).map(itemOf))
  else {
    for (const { phase, depth, emphasis } of pending) {
      items.push(...(yield* all(headOf, corpus.id, phase, depth, emphasis, count)).map(itemOf))
    }
  }
  const minDepth = groups.reduce((least, { depth }) => Math.min(least, depth), Number.POSITIVE_INFINITY)
  const by = corpus.picks % fairEvery === fairEvery - 1 ? 'staleness' : 'bands'
  const ranked = rankItems({
    now,
    items: items.map(({ path, depth, emphasis, generatedAt, state }) => {
      return { path, depth, emphasis, generatedAt, phaseState: state }
    }),
    depthWeight: corpus.spec.depthWeight,
    minDepth,
    phases: phaseNames(corpus),
    by,
  })
  return { now, ranked: ranked.slice(0, count), minDepth, groups, by }
}

/** The line of a corpus, for readers. */
export function* readLine(context: StoreContext, name: string, count: number): Step<Line | null> {
  const corpus = yield* findCorpus(context, name)
  return corpus === null ? null : yield* lineOf(corpus, count)
}
