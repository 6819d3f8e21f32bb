import { owedPhase } from '../../../core/corpus/phases.ts'
import { formatId, parseId } from '../../../core/id.ts'
import { enqueueFrom } from '../../../store/runs/enqueue.ts'
import { all, both, clockNow, dialects, inList, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, phaseNames, saveCorpusCounts, systemName } from '../corpus-row.ts'
import type { Item } from '../items/item-row.ts'
import { lineOf, picksAlike } from '../items/pick-item.ts'
import { hashOf } from '../tree/document-file.ts'

/** The order that a phase run was enqueued for. */
export interface PhaseOrder {
  readonly path: string
  /** Picked by the ranking, or requested by name. */
  readonly mode: 'automatic' | 'trigger'
  /** The phase to begin with, even if another one is owed. */
  readonly from?: string | undefined
  readonly isToCompletion?: boolean | undefined
}

export interface PhaseRun {
  readonly runId: number
  readonly path: string
  readonly mode: PhaseOrder['mode']
  /** The phase, set when the attempt begins. */
  readonly phase: string | null
  readonly startedAt: number | null
  readonly enqueuedAt: number
}

const insertRun = both(
  'corpus run insert',
  'insert into belfry.corpus_run (run_id, corpus_id, path, mode, enqueued_at) values ($1, $2, $3, $4, $5)',
)
const listRuns = both(
  'corpus runs',
  'select run_id, path, mode, phase, started_at, enqueued_at from belfry.corpus_run where corpus_id = $1 order by run_id',
)
const takeRuns = dialects('corpus runs take', {
  sqlite: `delete from belfry.corpus_run where run_id ${inList.numbers('$1').sqlite} returning run_id, corpus_id, path, mode, started_at`,
  postgres: `delete from belfry.corpus_run where run_id ${inList.numbers('$1').postgres} returning run_id, corpus_id, path, mode, started_at`,
})
/** A run that a person retried has no row yet, and without a row its end could not be recorded. */
const beginRun = both(
  'corpus run begin',
  `insert into belfry.corpus_run (run_id, corpus_id, path, mode, phase, started_at, enqueued_at) values ($1, $2, $3, $4, $5, $6, $6)
    on conflict (run_id) do update set phase = excluded.phase, started_at = excluded.started_at`,
)
const giveBackRun = both(
  'corpus run give back',
  'update belfry.corpus_run set phase = null, started_at = null where run_id = $1',
)

const prioritySooner = 0
const priorityUsual = 100

export function* phaseRuns(corpusId: number): Step<PhaseRun[]> {
  return (yield* all(listRuns, corpusId)).map((row) => ({
    runId: row.run_id as number,
    path: row.path as string,
    mode: row.mode as PhaseOrder['mode'],
    phase: row.phase as string | null,
    startedAt: row.started_at as number | null,
    enqueuedAt: row.enqueued_at as number,
  }))
}

export interface Ordered {
  readonly run: string
  readonly isNew: boolean
}

/** Enqueues a phase of an item. If the item has a live run, that run is the answer. */
export function* orderPhase(context: StoreContext, corpus: Corpus, order: PhaseOrder): Step<Ordered> {
  const { path, mode, from, isToCompletion } = order
  const now = yield* clockNow()
  const answer = yield* enqueueFrom(context, 'corpus', {
    queue: systemName(corpus.name),
    target: { corpus: { path }, lane: corpus.name },
    payload: { path, mode, ...(from !== undefined && { from }), ...(isToCompletion === true && { isToCompletion }) },
    priority: mode === 'trigger' ? prioritySooner : priorityUsual,
    dedupeKey: `corpus ${corpus.id} ${hashOf(path)}`,
    onExhausted: 'fail',
    options: { maxAttempts: 1 },
  })
  if (answer.created) yield* run(insertRun, parseId('run', answer.id), corpus.id, path, mode, now)
  return { run: answer.id, isNew: answer.created }
}

export interface PickedPhase {
  readonly path: string
  readonly phase: string
  readonly run: string
}

/** Of more items than this in line, the ranking is not read past. */
const inLineMax = 100

/** The items with a run that has not begun: the ranking still has them, and no second run of them is enqueued. */
export function itemsInLine(runs: readonly PhaseRun[]): Set<string> {
  return new Set(runs.flatMap(({ path, phase }) => (phase === null ? [path] : [])))
}

/** Enough of the head of the ranking to find `count` items that are not in line. */
export function headPast(inLine: ReadonlySet<string>, count: number): number {
  return Math.min(inLine.size, inLineMax) + count
}

/** Enqueues the first of the ranking where a slot is free: one item, and with drain one for each free slot. */
export function* orderNext(context: StoreContext, corpus: Corpus): Step<PickedPhase[]> {
  const { drain, concurrency } = corpus.spec
  const runs = yield* phaseRuns(corpus.id)
  const free = concurrency - runs.filter(({ mode, phase }) => mode === 'automatic' || phase !== null).length
  const inLine = itemsInLine(runs)
  const picked: PickedPhase[] = []
  let standing = corpus
  const most = drain ? free : Math.min(1, free)
  while (picked.length < most) {
    const alike = Math.min(most - picked.length, picksAlike(standing.picks))
    const { ranked } = yield* lineOf(standing, headPast(inLine, alike))
    const found = ranked.filter(({ path }) => !inLine.has(path)).slice(0, alike)
    if (found.length === 0) break
    for (const { path, phase } of found) {
      const { run: id } = yield* orderPhase(context, standing, { path, mode: 'automatic' })
      picked.push({ path, phase, run: id })
      inLine.add(path)
    }
    standing = { ...standing, picks: standing.picks + found.length, idle: 1 }
  }
  if (picked.length > 0) yield* saveCorpusCounts(standing)
  return picked
}

export interface TakenRun {
  readonly runId: number
  readonly corpusId: number
  readonly path: string
  readonly mode: PhaseOrder['mode']
  /** When its phase began; null if none has. */
  readonly startedAt: number | null
}

/** The phase runs among these ended runs. */
export function* takePhaseRuns(runIds: readonly number[]): Step<TakenRun[]> {
  if (runIds.length === 0) return []
  const rows = yield* all(takeRuns, JSON.stringify(runIds))
  return rows.map((row) => ({
    runId: row.run_id as number,
    corpusId: row.corpus_id as number,
    path: row.path as string,
    mode: row.mode as PhaseOrder['mode'],
    startedAt: row.started_at as number | null,
  }))
}

/** Records that the attempt of a run has begun a phase. */
export function* recordPhase(
  corpus: Pick<Corpus, 'id'>,
  { path, mode }: PhaseOrder,
  { runId, phase, at }: { readonly runId: number; readonly phase: string; readonly at: number },
): Step<void> {
  yield* run(beginRun, runId, corpus.id, path, mode, phase, at)
}

/** Clears the phase of a run, because another attempt of the run begins again. */
export function* forgetPhase(runId: number): Step<void> {
  yield* run(giveBackRun, runId)
}

export function phaseOwed(corpus: Corpus, item: Item): string | null {
  return owedPhase(item.state, phaseNames(corpus))
}

export function runName(runId: number): string {
  return formatId('run', runId)
}
