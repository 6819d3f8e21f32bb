import type { Changed, Inputs } from '../../../core/corpus/invalidate.ts'
import { type AnyPhaseState, owedPhase } from '../../../core/corpus/phases.ts'
import { all, both, dialects, one, type Row, run, runEach, type Step, type Value } from '../../../store/statement.ts'
import { type Corpus, phaseNames } from '../corpus-row.ts'

/**
 * Where an item stands. `pending`: its phase may be picked; `running`: a run of it is at work; `failed`: it waits for its retry;
 * `parked`: its attempts are used up or it was aborted; `unreadable`: its document cannot be read.
 */
export type ItemStatus = 'fresh' | 'pending' | 'running' | 'failed' | 'parked' | 'disabled' | 'unreadable'

/** What is known of an item besides its place in line. It is rebuilt from the document, the files and the runs. */
export interface ItemFacts {
  readonly isDisabled?: boolean
  /** Size, mtime and inode of its document. */
  readonly stat?: string
  /** Run and fence that wrote the document last. */
  readonly commit?: string
  readonly contentHash?: string
  /** When its content was built. */
  readonly builtAt?: number
  readonly cycles?: number
  readonly refs?: readonly string[]
  readonly consumed?: Readonly<Record<string, Inputs>>
  readonly changed?: readonly Changed[]
  readonly error?: { readonly step: string; readonly code: string; readonly message: string }
  readonly tokens?: Readonly<Record<string, number>>
  /** A fingerprint of what its last attempt was tried with. */
  readonly tried?: string
  /** Size, mtime, inode and hash of each file, so that a hash is taken again only when one of the others changed. */
  readonly files?: Readonly<Record<string, readonly [stat: string, hash: string]>>
  /** The texts of an item without files. */
  readonly sources?: Readonly<Record<string, string>>
}

export interface Item {
  readonly corpusId: number
  readonly path: string
  readonly parent: string | null
  readonly depth: number
  readonly emphasis: number
  readonly status: ItemStatus
  /** The owed phase; empty where none is. */
  readonly phase: string
  /** When it was generated; null if never. */
  readonly generatedAt: number | null
  readonly state: AnyPhaseState
  readonly attempts: number
  /** When it is looked at again: its retry, or a change of others that counts from then on. */
  readonly nextAt: number | null
  readonly reason: string | null
  readonly runId: number | null
  readonly revision: number
  /** Of its document. */
  readonly hash: string | null
  readonly isDirty: boolean
  readonly lookedAt: number | null
  readonly facts: ItemFacts
  /** The document of an item that lives in the store. */
  readonly document: string | null
}

const never = -1
const columns =
  'corpus_id, path, parent, depth, emphasis, status, phase, age_key, state, attempts, next_at, reason, run_id, revision, hash, is_dirty, looked_at, facts, document'
const findOne = both('corpus item find', `select ${columns} from belfry.corpus_item where corpus_id = $1 and path = $2`)
const findMany = both(
  'corpus items find',
  ({ texts }) => `select ${columns} from belfry.corpus_item where corpus_id = $1 and path ${texts('$2')}`,
)
const fields = columns.split(', ')
const updates = fields
  .slice(2)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')
const types =
  'bigint,text,text,float8,float8,text,text,bigint,text,int,bigint,text,bigint,bigint,text,smallint,bigint,text,text'
    .split(',')
    .map((type, index) => `$${index + 1}::${type}[]`)
const upsert = dialects('corpus items save', {
  sqlite: `insert into belfry.corpus_item (${columns}) values (${fields.map((_, index) => `$${index + 1}`).join(', ')})
    on conflict (corpus_id, path) do update set ${updates}`,
  postgres: `insert into belfry.corpus_item (${columns}) select * from unnest(${types.join(', ')}) as i (${columns})
    on conflict (corpus_id, path) do update set ${updates}`,
})
const remove = both('corpus item remove', 'delete from belfry.corpus_item where corpus_id = $1 and path = $2')
const count = dialects('corpus groups count', {
  sqlite: `insert into belfry.corpus_group (corpus_id, status, phase, depth, emphasis, items) values ($1, $2, $3, $4, $5, $6)
    on conflict (corpus_id, status, phase, depth, emphasis) do update set items = items + excluded.items`,
  postgres: `insert into belfry.corpus_group as g (corpus_id, status, phase, depth, emphasis, items)
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::float8[], $6::bigint[])
      as i (corpus_id, status, phase, depth, emphasis, items)
    on conflict (corpus_id, status, phase, depth, emphasis) do update set items = g.items + excluded.items`,
})
const dropEmpty = both('corpus groups drop', 'delete from belfry.corpus_group where corpus_id = $1 and items <= 0')
const dropRefs = dialects('corpus refs drop', {
  sqlite: 'delete from belfry.corpus_ref where corpus_id = $1 and target = $2 and path = $3',
  postgres: `delete from belfry.corpus_ref r using unnest($1::bigint[], $2::text[], $3::text[]) as i (corpus_id, target, path)
    where r.corpus_id = i.corpus_id and r.target = i.target and r.path = i.path`,
})
const addRefs = dialects('corpus refs add', {
  sqlite: 'insert into belfry.corpus_ref (corpus_id, target, path) values ($1, $2, $3) on conflict do nothing',
  postgres: `insert into belfry.corpus_ref (corpus_id, target, path)
    select * from unnest($1::bigint[], $2::text[], $3::text[]) as i (corpus_id, target, path) on conflict do nothing`,
})
const markDirty = both(
  'corpus items mark dirty',
  ({ texts }) =>
    `update belfry.corpus_item set is_dirty = 1 where corpus_id = $1 and path ${texts('$2')} and is_dirty = 0`,
)
const findReferrers = both(
  'corpus referrers',
  ({ texts }) => `select path from belfry.corpus_ref where corpus_id = $1 and target ${texts('$2')}`,
)

export function itemOf(row: Row): Item {
  const ageKey = row.age_key as number
  return {
    corpusId: row.corpus_id as number,
    path: row.path as string,
    parent: row.parent as string | null,
    depth: row.depth as number,
    emphasis: row.emphasis as number,
    status: row.status as ItemStatus,
    phase: row.phase as string,
    generatedAt: ageKey === never ? null : ageKey,
    state: JSON.parse(row.state as string) as AnyPhaseState,
    attempts: row.attempts as number,
    nextAt: row.next_at as number | null,
    reason: row.reason as string | null,
    runId: row.run_id as number | null,
    revision: row.revision as number,
    hash: row.hash as string | null,
    isDirty: row.is_dirty === 1,
    lookedAt: row.looked_at as number | null,
    facts: JSON.parse(row.facts as string) as ItemFacts,
    document: row.document as string | null,
  }
}

export function* findItem(corpusId: number, path: string): Step<Item | null> {
  const row = yield* one(findOne, corpusId, path)
  return row === undefined ? null : itemOf(row)
}

export function* findItems(corpusId: number, paths: readonly string[]): Step<Map<string, Item>> {
  if (paths.length === 0) return new Map()
  const rows = yield* all(findMany, corpusId, JSON.stringify(paths))
  return new Map(rows.map((row) => [row.path as string, itemOf(row)]))
}

/** The status that follows from everything else, and the owed phase. */
export function placed(item: Omit<Item, 'status' | 'phase'>, corpus: Pick<Corpus, 'spec'>): Item {
  const phase = owedPhase(item.state, phaseNames(corpus)) ?? ''
  return { ...item, phase, status: statusOf(item, phase) }
}

function statusOf(
  { state, reason, runId, facts, hash, document }: Omit<Item, 'status' | 'phase'>,
  phase: string,
): ItemStatus {
  if (runId !== null) return 'running'
  if (hash === null && document === null) return 'unreadable'
  if (facts.isDisabled === true) return 'disabled'
  if (phase === '') return 'fresh'
  if (reason !== null) return 'parked'
  return state[phase] === 'failed' ? 'failed' : 'pending'
}

/** Writes items and what is counted of them. The caller has locked the corpus, and gives each item as it was before. */
export function* saveItems(changes: readonly { readonly before: Item | null; readonly after: Item }[]): Step<void> {
  yield* runEach(
    upsert,
    changes.map(({ after }) => tupleOf(after)),
  )
  const counts = new Map<string, readonly Value[]>()
  for (const { before, after } of changes) {
    if (before !== null) tally(counts, before, -1)
    tally(counts, after, 1)
  }
  yield* saveCounts(counts)
  yield* saveRefs(changes)
}

function tupleOf(item: Item): readonly Value[] {
  const { corpusId, path, parent, depth, emphasis, status, phase, generatedAt, state, attempts, nextAt } = item
  const { reason, runId, revision, hash, isDirty, lookedAt, facts, document } = item
  const place = [corpusId, path, parent, depth, emphasis, status, phase, generatedAt ?? never]
  const rest = [reason, runId, revision, hash, isDirty ? 1 : 0, lookedAt, JSON.stringify(facts), document]
  return [...place, JSON.stringify(state), attempts, nextAt, ...rest]
}

function tally(counts: Map<string, readonly Value[]>, item: Item, by: number): void {
  const group = [item.corpusId, item.status, item.phase, item.depth, item.emphasis]
  const key = JSON.stringify(group)
  counts.set(key, [...group, ((counts.get(key)?.[5] as number | undefined) ?? 0) + by])
}

function* saveCounts(counts: ReadonlyMap<string, readonly Value[]>): Step<void> {
  const moved = [...counts.values()].filter(([, , , , , by]) => by !== 0)
  if (moved.length === 0) return
  yield* runEach(count, moved)
  for (const id of new Set(moved.map(([corpusId]) => corpusId as number))) yield* run(dropEmpty, id)
}

function* saveRefs(changes: readonly { readonly before: Item | null; readonly after: Item }[]): Step<void> {
  const [gone, come]: [Value[][], Value[][]] = [[], []]
  for (const { before, after } of changes) {
    const [old, fresh] = [before?.facts.refs ?? [], after.facts.refs ?? []]
    gone.push(...old.filter((ref) => !fresh.includes(ref)).map((ref) => [after.corpusId, ref, after.path]))
    come.push(...fresh.filter((ref) => !old.includes(ref)).map((ref) => [after.corpusId, ref, after.path]))
  }
  yield* runEach(dropRefs, gone)
  yield* runEach(addRefs, come)
}

export function* removeItems(items: readonly Item[]): Step<void> {
  const counts = new Map<string, readonly Value[]>()
  for (const item of items) {
    yield* run(remove, item.corpusId, item.path)
    tally(counts, item, -1)
  }
  yield* saveCounts(counts)
  const refs = items.flatMap(({ corpusId, path, facts }) => (facts.refs ?? []).map((ref) => [corpusId, ref, path]))
  yield* runEach(dropRefs, refs)
}

/** Looks again at those that read the content of these items. */
export function* markReaders(corpusId: number, items: readonly Pick<Item, 'path' | 'parent'>[]): Step<void> {
  const paths = JSON.stringify(items.map(({ path }) => path))
  const referrers = yield* all<{ path: string }>(findReferrers, corpusId, paths)
  const parents = items.flatMap(({ parent }) => (parent === null ? [] : [parent]))
  yield* markItems(corpusId, [...parents, ...referrers.map(({ path }) => path)])
}

export function* markItems(corpusId: number, paths: readonly string[]): Step<void> {
  if (paths.length > 0) yield* run(markDirty, corpusId, JSON.stringify([...new Set(paths)]))
}
