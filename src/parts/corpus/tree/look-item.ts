import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { derivePhases } from '../../../core/corpus/derive-phases.ts'
import { type Inputs, invalidate } from '../../../core/corpus/invalidate.ts'
import { type AnyPhaseState, transition } from '../../../core/corpus/phases.ts'
import { isRecord } from '../../../core/json/record.ts'
import { canonicalJson } from '../../../store/check.ts'
import { all, both, clockNow, type Step } from '../../../store/statement.ts'
import { type Corpus, formsOf, phaseNames } from '../corpus-row.ts'
import { findItem, findItems, type Item, type ItemFacts, markReaders, placed, saveItems } from '../items/item-row.ts'
import { hashOf, parsed, readDocument } from './document-file.ts'
import { contentHashOf, currentInputs, refsOf } from './fingerprints.ts'
import { hashedFiles, scopeOf } from './walk-tree.ts'

/** An item as it lies on the disk, or in the store. */
export interface Seen {
  readonly path: string
  readonly parent: string | null
  readonly depth: number
  readonly hash: string | null
  readonly stat: string
  readonly document: ItemDocument | null
  readonly problem: string | null
  readonly files: NonNullable<ItemFacts['files']>
  /** The stored text of an item that lives in the store. */
  readonly text: string | null
  /** The document as it is written. */
  readonly raw: string
}

/** Reads an item and hashes its files. */
export async function seeItem(
  corpus: Corpus,
  place: Pick<Seen, 'path' | 'parent' | 'depth'>,
  { names, known }: { readonly names?: readonly string[]; readonly known?: Item | null } = {},
): Promise<Seen | null> {
  const { root, ignore } = corpus.spec
  if (root === null) return null
  const read = readDocument(root, place.path)
  if (read === null) return null
  const files = await hashedFiles(root, names ?? (await scopeOf(root, place.path, ignore)), known?.facts.files)
  const { hash, stat, text: raw } = read
  if ('problem' in read)
    return { ...place, hash: null, stat, document: null, problem: read.problem, files, text: null, raw }
  return { ...place, hash, stat, document: read.document, problem: null, files, text: null, raw }
}

/** An item that lives in the store, from its row. */
export function seenInStore({ path, parent, depth, document: text, facts }: Item): Seen {
  const files = Object.fromEntries(
    Object.entries(facts.sources ?? {}).map(([name, source]) => [name, ['', hashOf(source).slice(0, 16)] as const]),
  )
  const read = text === null ? { problem: 'has no document' } : parsed(text)
  const document = 'document' in read ? read.document : null
  const problem = 'problem' in read ? read.problem : null
  return { path, parent, depth, hash: hashOf(text ?? ''), stat: '', document, problem, files, text, raw: text ?? '' }
}

const findChildren = both(
  'corpus children',
  ({ texts }) =>
    `select path, parent, status, facts from belfry.corpus_item where corpus_id = $1 and parent ${texts('$2')} order by path`,
)

export interface Looks {
  /** How many items are owed now that were not before. */
  readonly owed: number
  readonly looked: number
  /** Paths of items that changed in any way. */
  readonly changed: readonly string[]
  /** What each phase of each item would consume now. */
  readonly inputs: ReadonlyMap<string, Readonly<Record<string, Inputs>>>
}

/** Compares items with what their phases consumed, and writes what follows. The caller has locked the corpus. */
export function* lookAt(corpus: Corpus, seen: readonly Seen[]): Step<Looks> {
  const now = yield* clockNow()
  const before = yield* findItems(
    corpus.id,
    seen.map(({ path }) => path),
  )
  const around = yield* surroundings(corpus, seen)
  const changes = seen.map((one) => {
    const was = before.get(one.path) ?? null
    const current =
      one.document === null ? {} : currentInputs(corpus, { ...one, document: one.document, ...around(one) })
    return {
      before: was,
      current,
      after: indexed(corpus, one, { now, was, current, owedChild: around(one).owedChild }),
    }
  })
  yield* saveItems(changes)
  const moved = changes.filter(({ before: was, after }) => isNewsForReaders(was, after))
  if (moved.length > 0) {
    yield* markReaders(
      corpus.id,
      moved.map(({ after }) => after),
    )
  }
  const changed = changes.filter(
    ({ before: was, after }) => was === null || was.status !== after.status || was.hash !== after.hash,
  )
  const owed = changes.filter(({ before: was, after }) => isOwed(after) && (was === null || !isOwed(was))).length
  const inputs = new Map(changes.map(({ after, current }) => [after.path, current]))
  return { owed, looked: seen.length, changed: changed.map(({ after }) => after.path), inputs }
}

export function isOwed({ status }: Pick<Item, 'status'>): boolean {
  return status === 'pending' || status === 'running' || status === 'failed'
}

/** Parents and referrers read its content, and a parent waits until it is no longer owed. */
export function isNewsForReaders(before: Item | null, after: Item): boolean {
  if (before === null) return true
  return before.facts.contentHash !== after.facts.contentHash || (isOwed(before) && !isOwed(after))
}

interface Around {
  readonly children: Readonly<Record<string, string>>
  readonly references: Readonly<Record<string, string>>
  readonly owedChild: string | null
}

function* surroundings(corpus: Corpus, seen: readonly Seen[]): Step<(one: Seen) => Around> {
  const rows = yield* all<{ path: string; parent: string; status: Item['status']; facts: string }>(
    findChildren,
    corpus.id,
    JSON.stringify(seen.map(({ path }) => path)),
  )
  const refs = seen.flatMap(({ document }) => (document === null ? [] : refsOf(document)))
  const referred = yield* findItems(corpus.id, [...new Set(refs)])
  const contentOf = (facts: ItemFacts | undefined) => facts?.contentHash ?? ''
  return ({ path, document }) => {
    const children = rows.filter(({ parent }) => parent === path)
    const named = document === null ? [] : refsOf(document).filter((ref) => ref !== path)
    return {
      children: Object.fromEntries(children.map((row) => [row.path, contentOf(JSON.parse(row.facts) as ItemFacts)])),
      references: Object.fromEntries(named.map((ref) => [ref, contentOf(referred.get(ref)?.facts)])),
      owedChild: children.find(isOwed)?.path ?? null,
    }
  }
}

interface Indexing extends Pick<Around, 'owedChild'> {
  readonly now: number
  readonly was: Item | null
  readonly current: Readonly<Record<string, Inputs>>
}

function indexed(corpus: Corpus, seen: Seen, around: Indexing): Item {
  const { now, was, current } = around
  const { path, parent, depth: treeDepth, hash, stat, files, text } = seen
  const kept = was ?? fresh(corpus, path)
  const base = { ...kept, parent, hash, document: text, isDirty: false, lookedAt: now }
  if (seen.document === null) {
    const facts = { ...kept.facts, stat, files, error: { step: '', code: 'UNREADABLE', message: seen.problem ?? '' } }
    return placed({ ...base, depth: treeDepth, hash: null, document: null, facts }, corpus)
  }
  const { document } = seen
  const start = startOf(corpus, document, { was, hash, current })
  const consumed = consumedBy(seen, start.state, current, was)
  const builtAt =
    instantIn((consumed[middleOf(corpus)] as { at?: unknown } | undefined)?.at) ?? instantIn(document._generatedAt)
  const found = invalidate({
    now,
    phaseState: start.state,
    phases: phaseNames(corpus),
    current,
    consumed,
    cycles: numberIn(document._synthesisCount, 0),
    architectEvery: corpus.spec.architectEvery,
    builtAt,
    propagateAfterMs: corpus.spec.propagateAfterMs,
    owedChild: around.owedChild,
  })
  // A run that was lost wrote nothing into the document, whose error is that of an earlier one.
  const lost = start.attempts > 0 && kept.facts.error?.code === 'FAILED' ? { error: kept.facts.error } : {}
  const facts = {
    ...factsOf(document, kept.facts),
    ...lost,
    stat,
    files,
    consumed,
    changed: [...keptChanges(was, found.phaseState), ...found.changed],
    ...(builtAt !== null && { builtAt }),
  }
  const generatedAt = instantIn(document._generatedAt)
  return placed(
    {
      ...base,
      depth: numberIn(document._depth, treeDepth),
      emphasis: Math.max(0, numberIn(document._emphasis, 1)),
      generatedAt: generatedAt === null ? null : Math.min(generatedAt, now),
      state: found.phaseState,
      revision: numberIn(document._revision, 0),
      attempts: start.attempts,
      reason: start.reason,
      nextAt: start.nextAt ?? found.nextAt,
      facts,
    },
    corpus,
  )
}

/** What made a phase owed is known until it is done. */
function keptChanges(was: Item | null, state: AnyPhaseState): NonNullable<ItemFacts['changed']> {
  return (was?.facts.changed ?? []).filter(({ phase }) => state[phase] !== 'fresh' && was?.state[phase] !== 'fresh')
}

type Start = Pick<Item, 'state' | 'attempts' | 'reason' | 'nextAt'>

/**
 * The state to judge from. The index knows more than an unchanged document: which retries are due. A document that another hand
 * changed, and other inputs than those that failed, begin anew.
 */
function startOf(
  corpus: Corpus,
  document: ItemDocument,
  { was, hash, current }: { was: Item | null; hash: string | null; current: Readonly<Record<string, Inputs>> },
): Start {
  const anew = { attempts: 0, reason: null, nextAt: null }
  const { phaseState, wasInterrupted } = derivePhases(document, formsOf(corpus))
  if (was === null) return { ...anew, state: phaseState, attempts: wasInterrupted ? 1 : 0 }
  if (was.hash !== hash)
    return was.runId === null ? { ...anew, state: retried(corpus, phaseState) } : { ...was, state: phaseState }
  const tried = was.facts.tried
  const isOther = tried !== undefined && was.runId === null && tried !== triedHash(current[was.phase])
  if (isOther && (was.status === 'parked' || was.status === 'failed'))
    return { ...anew, state: retried(corpus, was.state) }
  const nextAt = was.status === 'failed' || was.runId !== null ? was.nextAt : null
  return { state: was.state, attempts: was.attempts, reason: was.reason, nextAt }
}

function retried(corpus: Corpus, phaseState: AnyPhaseState): AnyPhaseState {
  return transition({ phaseState, event: { type: 'retry' }, phases: phaseNames(corpus) })
}

/** A fingerprint of what a phase would be tried with. */
export function triedHash(inputs: Inputs | undefined): string {
  return hashOf(canonicalJson(inputs ?? {})).slice(0, 16)
}

/** A tree of the original program says nothing of what its phases consumed: what is there now counts as consumed, unless a file is newer. */
function consumedBy(
  { document, files }: Pick<Seen, 'document' | 'files'>,
  state: AnyPhaseState,
  current: Readonly<Record<string, Inputs>>,
  was: Item | null,
): Record<string, Inputs> {
  const written = isRecord(document?._inputs) ? (document._inputs as Record<string, Inputs>) : {}
  const since = instantIn(document?._generatedAt) ?? Number.POSITIVE_INFINITY
  const older = ([name, hash]: [string, string]) => [name, mtimeOf(files[name]?.[0]) > since ? 'older' : hash]
  const adopting = ({ contents, ...rest }: Inputs): Inputs =>
    isRecord(contents) ? { ...rest, contents: Object.fromEntries(Object.entries(contents).map(older as never)) } : rest
  const adopted =
    was?.facts.consumed ?? Object.fromEntries(Object.entries(current).map(([phase, one]) => [phase, adopting(one)]))
  return Object.fromEntries(
    Object.keys(current).flatMap((phase) => {
      const known = written[phase] ?? (state[phase] === 'fresh' ? (adopted[phase] ?? current[phase]) : undefined)
      return known === undefined ? [] : [[phase, known]]
    }),
  )
}

function mtimeOf(stat: string | undefined): number {
  return Number(stat?.split(' ')[1] ?? 0)
}

function factsOf(document: ItemDocument, known: ItemFacts): ItemFacts {
  const { _error: error, _commit: commit } = document
  const { error: _, ...rest } = known
  return {
    ...rest,
    isDisabled: document._disabled === true,
    contentHash: contentHashOf(document),
    cycles: numberIn(document._synthesisCount, 0),
    refs: refsOf(document),
    ...(isRecord(commit) && { commit: `${String(commit.run)} ${String(commit.fence)}` }),
    ...(isRecord(error) && { error: error as ItemFacts['error'] & object }),
  }
}

function middleOf(corpus: Corpus): string {
  const forms = formsOf(corpus)
  return (forms.find(({ writes }) => writes.includes('_content')) ?? forms.at(-1))?.name ?? ''
}

function fresh(corpus: Corpus, path: string): Item {
  const place = {
    corpusId: corpus.id,
    path,
    parent: null,
    depth: 0,
    emphasis: 1,
    status: 'pending',
    phase: '',
  } as const
  const time = { generatedAt: null, state: {}, attempts: 0, nextAt: null, reason: null, runId: null } as const
  return { ...place, ...time, revision: 0, hash: null, isDirty: false, lookedAt: null, facts: {}, document: null }
}

export function instantIn(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(at) ? at : null
}

function numberIn(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}

/** Looks at an item that lives in the store; null where there is none. */
export function* lookInStore(corpus: Corpus, path: string): Step<Item | null> {
  const item = yield* findItem(corpus.id, path)
  if (item === null) return null
  yield* lookAt(corpus, [seenInStore(item)])
  return yield* findItem(corpus.id, path)
}
