import type { Changed, Inputs } from '../../../core/corpus/invalidate.ts'
import { type AnyPhaseState, owedPhase } from '../../../core/corpus/phases.ts'
import { all, both, dialects, one, type Row, run, runEach, type Step, type Value } from '../../../store/statement.ts'
import { type Corpus, phaseNames } from '../corpus-row.ts'
import { stampOf } from './item-stamp.ts'

/**
 * The status of an item. `pending`: its phase may be picked; `running`: a run of it is at work; `failed`: it waits for its retry; `parked`:
 * its attempts are used up or it was aborted; `unreadable`: its document cannot be read.
 */
export type ItemStatus = 'fresh' | 'pending' | 'running' | 'failed' | 'parked' | 'disabled' | 'unreadable'

/** The facts of an item besides its rank. They can be rebuilt from the document, the files and the runs. */
export interface ItemFacts {
  readonly isDisabled?: boolean
  /** Size, mtime and inode of the document. */
  readonly stat?: string
  /** The run and fence that last wrote the document. */
  readonly commit?: string
  readonly contentHash?: string
  /** When the content was built. */
  readonly builtAt?: number
  readonly cycles?: number
  readonly refs?: readonly string[]
  readonly consumed?: Readonly<Record<string, Inputs>>
  readonly changed?: readonly Changed[]
  readonly error?: { readonly step: string; readonly code: string; readonly message: string }
  readonly tokens?: Readonly<Record<string, number>>
  /** A fingerprint of the inputs of the last attempt. */
  readonly tried?: string
  /** Size, mtime, inode and hash of each file. A file is hashed again only when its size, mtime or inode has changed. */
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
  /** The owed phase; empty if no phase is owed. */
  readonly phase: string
  /** When the content was generated; null if never. */
  readonly generatedAt: number | null
  readonly state: AnyPhaseState
  readonly attempts: number
  /** When the item is looked at again: for its retry, or for a change of other items that takes effect then. */
  readonly nextAt: number | null
  readonly reason: string | null
  readonly runId: number | null
  readonly revision: number
  /** The hash of the document. */
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
const findStamps = both(
  'corpus stamps find',
  ({ texts }) => `select path, stamp, is_dirty from belfry.corpus_item where corpus_id = $1 and path ${texts('$2')}`,
)
const fields = [...columns.split(', '), 'stamp']
const written = fields.join(', ')
const updates = fields
  .slice(2)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')
const types =
  'bigint,text,text,float8,float8,text,text,bigint,text,int,bigint,text,bigint,bigint,text,smallint,bigint,text,text,text'
    .split(',')
    .map((type, index) => `$${index + 1}::${type}[]`)
const upsert = dialects('corpus items save', {
  sqlite: `insert into belfry.corpus_item (${written}) values (${fields.map((_, index) => `$${index + 1}`).join(', ')})
    on conflict (corpus_id, path) do update set ${updates}`,
  postgres: `insert into belfry.corpus_item (${written}) select * from unnest(${types.join(', ')}) as i (${written})
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
const dropGroups = both('corpus groups drop all', 'delete from belfry.corpus_group where corpus_id = $1')
const countGroups = both(
  'corpus groups count anew',
  `insert into belfry.corpus_group (corpus_id, status, phase, depth, emphasis, items)
    select corpus_id, status, phase, depth, emphasis, count(*) from belfry.corpus_item where corpus_id = $1
    group by corpus_id, status, phase, depth, emphasis`,
)
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
const markAllDirty = both(
  'corpus mark all',
  'update belfry.corpus_item set is_dirty = 1 where corpus_id = $1 and is_dirty = 0',
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
    generatedAt: generatedAtOf(ageKey),
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

export function generatedAtOf(ageKey: number): number | null {
  return ageKey === never ? null : ageKey
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

export interface Stamped {
  /** The stamp of the item on the disk when it was last looked at; null if it is not known. */
  readonly stamp: string | null
  readonly isDirty: boolean
}

export function* stampsOf(_: unknown, corpusId: number, paths: readonly string[]): Step<Map<string, Stamped>> {
  const rows = yield* all(findStamps, corpusId, JSON.stringify(paths))
  return new Map(
    rows.map(({ path, stamp, is_dirty: dirty }) => [
      path as string,
      { stamp: stamp as string | null, isDirty: dirty === 1 },
    ]),
  )
}

/** The item with the status and the owed phase that follow from its other fields. */
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

/** Writes items and the counts of their groups. The caller has locked the corpus, and passes each item as it was before. */
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
  const rest = [
    reason,
    runId,
    revision,
    hash,
    isDirty ? 1 : 0,
    lookedAt,
    JSON.stringify(facts),
    document,
    stampIn(item),
  ]
  return [...place, JSON.stringify(state), attempts, nextAt, ...rest]
}

function stampIn({ parent, facts: { stat, files = {} } }: Item): string | null {
  return stampOf({ parent, stat, files: Object.entries(files).map(([name, [of]]) => [name, of]) })
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

/** Counts the groups anew. The caller has locked the corpus. */
export function* recountGroups(corpusId: number): Step<void> {
  yield* run(dropGroups, corpusId)
  yield* run(countGroups, corpusId)
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

/** Marks the items that read the content of these items, so that they are looked at again. */
export function* markReaders(corpusId: number, items: readonly Pick<Item, 'path' | 'parent'>[]): Step<void> {
  const paths = JSON.stringify(items.map(({ path }) => path))
  const referrers = yield* all<{ path: string }>(findReferrers, corpusId, paths)
  const parents = items.flatMap(({ parent }) => (parent === null ? [] : [parent]))
  yield* markItems(corpusId, [...parents, ...referrers.map(({ path }) => path)])
}

export function* markItems(corpusId: number, paths: readonly string[]): Step<void> {
  if (paths.length > 0) yield* run(markDirty, corpusId, JSON.stringify([...new Set(paths)]))
}

/** Marks every item, because something has changed that all of them consume. */
export function* markAll(corpusId: number): Step<void> {
  yield* run(markAllDirty, corpusId)
}
