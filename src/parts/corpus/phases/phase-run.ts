import { owedPhase } from '../../../core/corpus/phases.ts'
import { formatId, parseId } from '../../../core/id.ts'
import { enqueueFrom } from '../../../store/runs/enqueue.ts'
import { all, both, clockNow, dialects, inList, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, phaseNames, saveCorpusCounts, systemName } from '../corpus-row.ts'
import type { Item } from '../items/item-row.ts'
import { lineOf } from '../items/pick-item.ts'
import { hashOf } from '../tree/document-file.ts'

/** What a phase run was enqueued for. */
export interface PhaseOrder {
  readonly path: string
  /** Picked by the ranking, or asked for by name. */
  readonly mode: 'automatic' | 'trigger'
  /** The phase to begin with, whatever is owed. */
  readonly from?: string | undefined
  readonly isToCompletion?: boolean | undefined
}

export interface PhaseRun {
  readonly runId: number
  readonly path: string
  readonly mode: PhaseOrder['mode']
  /** Set when its attempt began. */
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
const countAutomatic = both(
  'corpus runs automatic',
  `select count(*) as live from belfry.corpus_run where corpus_id = $1 and (mode = 'automatic' or phase is not null)`,
)
const takeRuns = dialects('corpus runs take', {
  sqlite: `delete from belfry.corpus_run where run_id ${inList.numbers('$1').sqlite} returning run_id, corpus_id, path, mode`,
  postgres: `delete from belfry.corpus_run where run_id ${inList.numbers('$1').postgres} returning run_id, corpus_id, path, mode`,
})
/** A run that a person retried has no row yet, and its end could not be booked without one. */
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

/** Enqueues a phase of an item. While a run of the item is live that run is the answer. */
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

/** Enqueues the first of the ranking where a slot is free; null where none is, or nothing is owed. */
export function* orderNext(
  context: StoreContext,
  corpus: Corpus,
): Step<{ path: string; phase: string; run: string } | null> {
  const [row] = yield* all<{ live: number }>(countAutomatic, corpus.id)
  if (Number(row?.live ?? 0) >= corpus.spec.concurrency) return null
  const { ranked } = yield* lineOf(corpus, 1)
  const [first] = ranked
  if (first === undefined) return null
  const { run: id, isNew } = yield* orderPhase(context, corpus, { path: first.path, mode: 'automatic' })
  if (isNew) yield* saveCorpusCounts({ ...corpus, picks: corpus.picks + 1, idle: 1 })
  return { path: first.path, phase: first.phase, run: id }
}

export interface TakenRun {
  readonly runId: number
  readonly corpusId: number
  readonly path: string
  readonly mode: PhaseOrder['mode']
}

/** The phase runs among these, which have ended. */
export function* takePhaseRuns(runIds: readonly number[]): Step<TakenRun[]> {
  if (runIds.length === 0) return []
  const rows = yield* all(takeRuns, JSON.stringify(runIds))
  return rows.map((row) => ({
    runId: row.run_id as number,
    corpusId: row.corpus_id as number,
    path: row.path as string,
    mode: row.mode as PhaseOrder['mode'],
  }))
}

/** Notes that the attempt of a run has begun a phase. */
export function* recordPhase(
  corpus: Pick<Corpus, 'id'>,
  { path, mode }: PhaseOrder,
  { runId, phase, at }: { readonly runId: number; readonly phase: string; readonly at: number },
): Step<void> {
  yield* run(beginRun, runId, corpus.id, path, mode, phase, at)
}

/** Notes that another attempt begins anew. */
export function* forgetPhase(runId: number): Step<void> {
  yield* run(giveBackRun, runId)
}

export function phaseOwed(corpus: Corpus, item: Item): string | null {
  return owedPhase(item.state, phaseNames(corpus))
}

export function runName(runId: number): string {
  return formatId('run', runId)
}
