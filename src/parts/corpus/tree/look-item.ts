import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { derivePhases } from '../../../core/corpus/derive-phases.ts'
import { type Changed, differences, type Inputs, invalidate } from '../../../core/corpus/invalidate.ts'
import { type AnyPhaseState, stateWith, transition } from '../../../core/corpus/phases.ts'
import { isRecord } from '../../../core/json/record.ts'
import { canonicalJson } from '../../../store/check.ts'
import { all, clockNow, dialects, inList, type Step } from '../../../store/statement.ts'
import { type Corpus, formsOf, phaseNames } from '../corpus-row.ts'
import {
  findItem,
  findItems,
  generatedAtOf,
  type Item,
  type ItemFacts,
  markReaders,
  placed,
  saveItems,
} from '../items/item-row.ts'
import { hashOf } from './document-file.ts'
import { contentHashOf, currentInputs, refsOf } from './fingerprints.ts'
import { type Seen, seenInStore } from './see-item.ts'

const childColumns = 'select path, parent, status, age_key, facts from belfry.corpus_item'
/** Without the name of the index SQLite reads all items of the corpus for each batch. */
const findChildren = dialects('corpus children', {
  sqlite: `${childColumns} indexed by corpus_item_parent where corpus_id = $1 and parent ${inList.texts('$2').sqlite}`,
  postgres: `${childColumns} where corpus_id = $1 and parent ${inList.texts('$2').postgres}`,
})

export interface Looks {
  /** How many items are owed now that were not owed before. */
  readonly owed: number
  readonly looked: number
  /** The inputs that each phase of each item would consume now. */
  readonly inputs: ReadonlyMap<string, Readonly<Record<string, Inputs>>>
}

interface Compared {
  readonly before: Item | null
  readonly after: Item
  readonly current: Readonly<Record<string, Inputs>>
}

/** Compares items with the inputs that their phases consumed. Nothing is written. */
function* compared(corpus: Corpus, seen: readonly Seen[], known?: ReadonlyMap<string, Item>): Step<Compared[]> {
  const now = yield* clockNow()
  const paths = seen.map(({ path }) => path)
  const before = known ?? (yield* findItems(corpus.id, paths))
  const around = yield* surroundings(corpus, seen)
  return seen.map((one) => {
    const was = before.get(one.path) ?? null
    const { document, files } = one
    const { children, references, owedChild, builtAts } = around(one)
    const current = document === null ? {} : currentInputs(corpus, { document, files, children, references })
    return { before: was, current, after: indexed(corpus, one, { now, was, current, owedChild, builtAts }) }
  })
}

/** An item as the next look will write it: readers see what is true now, and write nothing. */
export function* wouldBe(_: unknown, corpus: Corpus, seen: Seen): Step<Item> {
  const [one] = (yield* compared(corpus, [seen])) as [Compared]
  return one.after
}

/** Compares items with the inputs that their phases consumed, and writes the new status. The caller has locked the corpus. */
export function* lookAt(corpus: Corpus, seen: readonly Seen[], known?: ReadonlyMap<string, Item>): Step<Looks> {
  const changes = yield* compared(corpus, seen, known)
  yield* saveItems(changes)
  const moved = changes.filter(({ before: was, after }) => isNewsForReaders(was, after))
  if (moved.length > 0) {
    yield* markReaders(
      corpus.id,
      moved.map(({ after }) => after),
    )
  }
  const owed = changes.filter(({ before: was, after }) => isOwed(after) && (was === null || !isOwed(was))).length
  const inputs = new Map(changes.map(({ after, current }) => [after.path, current]))
  return { owed, looked: seen.length, inputs }
}

export function isOwed({ status }: Pick<Item, 'status'>): boolean {
  return status === 'pending' || status === 'running' || status === 'failed'
}

/**
 * Whether other items must be looked at again. Parents and referrers read the content, and a parent waits until its children are no longer
 * owed.
 */
export function isNewsForReaders(before: Item | null, after: Item): boolean {
  if (before === null) return true
  return before.facts.contentHash !== after.facts.contentHash || (isOwed(before) && !isOwed(after))
}

interface Around {
  readonly children: Readonly<Record<string, string>>
  readonly references: Readonly<Record<string, string>>
  readonly owedChild: string | null
  /** When the content of its children and references was generated. */
  readonly builtAts: ReadonlyMap<string, number | null>
}

function* surroundings(corpus: Corpus, seen: readonly Seen[]): Step<(one: Seen) => Around> {
  const rows = yield* all<{ path: string; parent: string; status: Item['status']; age_key: number; facts: string }>(
    findChildren,
    corpus.id,
    JSON.stringify(seen.map(({ path }) => path)),
  )
  const below = new Map<string, typeof rows>(seen.map(({ path }) => [path, []]))
  for (const row of rows) below.get(row.parent)?.push(row)
  const refs = seen.flatMap(({ document }) => (document === null ? [] : refsOf(corpus, document)))
  const referred = yield* findItems(corpus.id, [...new Set(refs)])
  const contentOf = (facts: ItemFacts | undefined) => facts?.contentHash ?? ''
  return ({ path, document }) => {
    const children = (below.get(path) ?? []).sort((a, b) => (a.path < b.path ? -1 : 1))
    const named = document === null ? [] : refsOf(corpus, document).filter((ref) => ref !== path)
    return {
      children: Object.fromEntries(children.map((row) => [row.path, contentOf(JSON.parse(row.facts) as ItemFacts)])),
      references: Object.fromEntries(named.map((ref) => [ref, contentOf(referred.get(ref)?.facts)])),
      owedChild: children.find(isOwed)?.path ?? null,
      builtAts: new Map([
        ...children.map((row) => [row.path, generatedAtOf(row.age_key)] as const),
        ...named.map((ref) => [ref, referred.get(ref)?.generatedAt ?? null] as const),
      ]),
    }
  }
}

interface Indexing extends Pick<Around, 'owedChild' | 'builtAts'> {
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
  const consumed = consumedBy(seen, start.state, around)
  const builtAt =
    instantIn((consumed[middleOf(corpus)] as { at?: unknown } | undefined)?.at) ?? instantIn(document._generatedAt)
  const phaseState = stateWith(start.state, phaseNames(corpus))
  const found = invalidate({
    now,
    phaseState,
    phases: phaseNames(corpus),
    current,
    consumed,
    cycles: numberIn(document._synthesisCount, 0),
    architectEvery: corpus.spec.architectEvery,
    builtAt,
    propagateAfterMs: corpus.spec.propagateAfterMs,
    owedChild: around.owedChild,
  })
  // A lost run wrote nothing into the document, so the error in the document is that of an earlier run.
  const lost = start.attempts > 0 && kept.facts.error?.code === 'FAILED' ? { error: kept.facts.error } : {}
  const facts = {
    ...factsOf(corpus, document, kept.facts),
    ...lost,
    stat,
    files,
    consumed,
    changed: [...keptChanges(was, found.phaseState, { current, consumed }), ...found.changed],
    ...(builtAt !== null && { builtAt }),
  }
  const generatedAt = instantIn(document._generatedAt)
  const item = placed(
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
  return isAsAborted(item) ? { ...item, facts: { ...facts, tried: triedHash(current[item.phase]) } } : item
}

/** Whether an abort has parked an item, and no look since has found what was edited before the abort. */
export function isAsAborted({ status, facts }: Pick<Item, 'status' | 'facts'>): boolean {
  return status === 'parked' && facts.tried === undefined
}

interface Comparison {
  readonly current: Readonly<Record<string, Inputs>>
  readonly consumed: Readonly<Record<string, Inputs>>
}

/**
 * The changes that made a phase owed are kept until the phase is done. They are compared again, so that an input that changes twice is named
 * once, and one that is put back is not named any more.
 */
function keptChanges(was: Item | null, state: AnyPhaseState, { current, consumed }: Comparison): readonly Changed[] {
  const kept = (was?.facts.changed ?? []).filter(
    ({ phase }) => state[phase] !== 'fresh' && was?.state[phase] !== 'fresh',
  )
  return [...new Set(kept.map(({ phase }) => phase))].flatMap((phase) => {
    const own = kept.filter((one) => one.phase === phase)
    if (consumed[phase] === undefined) return own
    const others = own.filter(({ input }) => input === 'architectEvery').slice(0, 1)
    return [...differences(phase, consumed[phase], current[phase] ?? {}), ...others]
  })
}

type Start = Pick<Item, 'state' | 'attempts' | 'reason' | 'nextAt'>

/**
 * The state to judge from. For an unchanged document the index also knows when retries are due. If another program changed the document, or
 * the inputs differ from those that failed, the item starts again.
 */
function startOf(
  corpus: Corpus,
  document: ItemDocument,
  { was, hash, current }: { was: Item | null; hash: string | null; current: Readonly<Record<string, Inputs>> },
): Start {
  const anew = { attempts: 0, reason: null, nextAt: null }
  const { phaseState, wasInterrupted } = derivePhases(document, formsOf(corpus))
  // A failure that another index or another program recorded has no retry time in this index, so its phase may be picked at once.
  if (was === null) return { ...anew, state: retried(corpus, phaseState), attempts: wasInterrupted ? 1 : 0 }
  // An abort parks the item as it is then, with all edits made before. This look is the first to see them.
  if (isAsAborted(was)) return was
  if (was.hash !== hash && was.runId !== null) return { ...was, state: phaseState }
  if (was.hash !== hash) return { ...anew, state: retried(corpus, phaseState), attempts: wasInterrupted ? 1 : 0 }
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

/** A fingerprint of the inputs of an attempt. */
export function triedHash(inputs: Inputs | undefined): string {
  return hashOf(canonicalJson(inputs ?? {})).slice(0, 16)
}

/**
 * A tree of the original program does not say which inputs its phases consumed. The current inputs count as consumed, except files that are
 * newer than the document's `_generatedAt`. So does the content of children and references that was generated before it: at the first look
 * at a tree they may not be in the index yet.
 */
function consumedBy(
  { document, files }: Pick<Seen, 'document' | 'files'>,
  state: AnyPhaseState,
  { current, was, builtAts }: Pick<Indexing, 'current' | 'was' | 'builtAts'>,
): Record<string, Inputs> {
  const written = isRecord(document?._inputs) ? (document._inputs as Record<string, Inputs>) : {}
  const since = instantIn(document?._generatedAt) ?? Number.POSITIVE_INFINITY
  const isOlder = (path: string) => Number.isFinite(since) && (builtAts.get(path) ?? Number.POSITIVE_INFINITY) <= since
  const older = ([name, hash]: [string, string]) => [name, mtimeOf(files[name]?.[0]) > since ? 'older' : hash]
  const adopting = ({ contents, ...rest }: Inputs): Inputs =>
    isRecord(contents) ? { ...rest, contents: Object.fromEntries(Object.entries(contents).map(older as never)) } : rest
  const adopted =
    was?.facts.consumed ?? Object.fromEntries(Object.entries(current).map(([phase, one]) => [phase, adopting(one)]))
  return Object.fromEntries(
    Object.keys(current).flatMap((phase) => {
      const taken = state[phase] === 'fresh' ? (adopted[phase] ?? current[phase]) : undefined
      const known = written[phase] ?? (taken && withOlder(taken, current[phase] ?? {}, isOlder))
      return known === undefined ? [] : [[phase, known]]
    }),
  )
}

function withOlder(taken: Inputs, current: Inputs, isOlder: (path: string) => boolean): Inputs {
  const merged = (name: 'children' | 'references') => {
    const now = Object.entries(current[name] ?? {}).filter(([path]) => isOlder(path))
    return now.length === 0 ? {} : { [name]: { ...taken[name], ...Object.fromEntries(now) } }
  }
  return { ...taken, ...merged('children'), ...merged('references') }
}

function mtimeOf(stat: string | undefined): number {
  return Number(stat?.split(' ')[1] ?? 0)
}

function factsOf(corpus: Corpus, document: ItemDocument, known: ItemFacts): ItemFacts {
  const { _error: error } = document
  const commit = commitIn(document)
  const { error: _, tokens: __, ...rest } = known
  const used = phaseNames(corpus).flatMap((phase) => {
    const tokens = document[`_${phase}Tokens`]
    return Number.isSafeInteger(tokens) ? [[phase, tokens as number]] : []
  })
  return {
    ...rest,
    ...(used.length > 0 && { tokens: Object.fromEntries(used) }),
    isDisabled: document._disabled === true,
    contentHash: contentHashOf(document),
    cycles: numberIn(document._synthesisCount, 0),
    refs: refsOf(corpus, document),
    ...(commit !== undefined && { commit }),
    ...(isRecord(error) && { error: error as ItemFacts['error'] & object }),
  }
}

/** The run and fence that last wrote a document. */
export function commitIn({ _commit: commit }: ItemDocument): string | undefined {
  return isRecord(commit) ? `${String(commit.run)} ${String(commit.fence)}` : undefined
}

function middleOf(corpus: Corpus): string {
  const forms = formsOf(corpus)
  return (forms.find(({ writes }) => writes.includes('_content')) ?? forms.at(-1))?.name ?? ''
}

function fresh(corpus: Corpus, path: string): Item {
  return {
    corpusId: corpus.id,
    path,
    parent: null,
    depth: 0,
    emphasis: 1,
    status: 'pending',
    phase: '',
    generatedAt: null,
    state: {},
    attempts: 0,
    nextAt: null,
    reason: null,
    runId: null,
    revision: 0,
    hash: null,
    isDirty: false,
    lookedAt: null,
    facts: {},
    document: null,
  }
}

export function instantIn(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(at) ? at : null
}

function numberIn(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}

/** Looks at an item in the store; null if there is none. */
export function* lookInStore(corpus: Corpus, path: string): Step<Item | null> {
  const item = yield* findItem(corpus.id, path)
  if (item === null) return null
  yield* lookAt(corpus, [seenInStore(item)])
  return yield* findItem(corpus.id, path)
}
