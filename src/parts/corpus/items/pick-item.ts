import type { AnyPhaseState } from '../../../core/corpus/phases.ts'
import { type RankedItem, rankItems } from '../../../core/corpus/rank.ts'
import { all, both, clockNow, dialects, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, findCorpus, phaseNames } from '../corpus-row.ts'
import { generatedAtOf, type Item } from './item-row.ts'

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
const columns = 'i.path, i.phase, i.depth, i.emphasis, i.age_key'
const inGroup = (row: string) =>
  `${row}.corpus_id = g.corpus_id and ${row}.status = 'pending' and ${row}.phase = g.phase and ${row}.depth = g.depth and ${row}.emphasis = g.emphasis`
const heads = `from belfry.corpus_item h where ${inGroup('h')} order by h.age_key, h.path limit $2`
const pendingGroups = `g.corpus_id = $1 and g.status = 'pending' and g.items > 0`
/**
 * The index of the line has all of these columns: the rows themselves are wide, and the planner must not look one up for each group. Without
 * `cross join` SQLite reads every pending item.
 */
const headsOf = dialects('corpus group heads', {
  sqlite: `select ${columns} from belfry.corpus_group g cross join belfry.corpus_item i on ${inGroup('i')} and (i.age_key, i.path) in (
      select h.age_key, h.path ${heads})
    where ${pendingGroups}`,
  postgres: `select ${columns} from belfry.corpus_group g cross join lateral (
      select h.path, h.phase, h.depth, h.emphasis, h.age_key ${heads}) i
    where ${pendingGroups}`,
})
const wholeLine = both(
  'corpus line',
  `select ${columns} from belfry.corpus_item i where i.corpus_id = $1 and i.status = 'pending'`,
)

/** With more groups than this it is faster to read all items. */
export const groupsMax = 1_000
/** One pick in this many ignores the bands, so that items that wait for their first phase are reached even if many others have begun. */
export const fairEvery = 20

function isFair(picks: number): boolean {
  return picks % fairEvery === fairEvery - 1
}

/** How many picks from now on go by the same ranking: the picks up to the next one without bands, or that one alone. */
export function picksAlike(picks: number): number {
  return isFair(picks) ? 1 : fairEvery - 1 - (picks % fairEvery)
}

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
 * The head of the line: the same ranking for the tick, the queue, previews and explanations. All items of a group have the same weight, so
 * the oldest of each group are enough to find the first `count` of all items.
 */
export function* lineOf(corpus: Corpus, count: number): Step<Line> {
  const now = yield* clockNow()
  const groups = yield* groupsOf(corpus.id)
  const pending = groups.filter(({ status }) => status === 'pending')
  const rows = yield* pending.length > groupsMax ? all(wholeLine, corpus.id) : all(headsOf, corpus.id, count)
  const minDepth = groups.reduce((least, { depth }) => Math.min(least, depth), Number.POSITIVE_INFINITY)
  const by = isFair(corpus.picks) ? 'staleness' : 'bands'
  const phases = phaseNames(corpus)
  const ranked = rankItems({
    now,
    items: rows.map((row) => rankedItem(row, phases)),
    depthWeight: corpus.spec.depthWeight,
    minDepth,
    phases,
    by,
  })
  return { now, ranked: ranked.slice(0, count), minDepth, groups, by }
}

/** Only the first owed phase of an item counts for its place, so the others are taken for fresh. */
function rankedItem({ path, phase, depth, emphasis, age_key: age }: Row, phases: readonly string[]) {
  return {
    path: path as string,
    depth: depth as number,
    emphasis: emphasis as number,
    generatedAt: generatedAtOf(age as number),
    phaseState: owing(phase as string, phases),
  }
}

function owing(owed: string, phases: readonly string[]): AnyPhaseState {
  return Object.fromEntries(phases.map((phase) => [phase, phase === owed ? 'pending' : 'fresh']))
}

/** The line of a corpus, for readers. */
export function* readLine(context: StoreContext, name: string, count: number): Step<Line | null> {
  const corpus = yield* findCorpus(context, name)
  return corpus === null ? null : yield* lineOf(corpus, count)
}
