import { type CommittedPhase, commitPhase } from '../../../core/corpus/commit-phase.ts'
import { transition } from '../../../core/corpus/phases.ts'
import { cron } from '../../../core/cron/cron.ts'
import { scheduleNow } from '../../../store/reads/find-schedule.ts'
import type { Ends, RunEnd } from '../../../store/runs/end-hooks.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, formsOf, lockCorpusById, phaseNames, saveCorpusCounts, systemName } from '../corpus-row.ts'
import { findItem, type Item, type ItemFacts, markReaders, placed, saveItems } from '../items/item-row.ts'
import { keepCopy } from '../items/snapshots.ts'
import { documentText, hashOf, parsed } from '../tree/document-file.ts'
import { isNewsForReaders, lookAt } from '../tree/look-item.ts'
import { type Seen, seenInStore } from '../tree/see-item.ts'
import { PhaseEffect } from './phase-effect.ts'
import { forgetPhase, orderNext, orderPhase, takePhaseRuns } from './phase-run.ts'

const retryMsMax = 86_400_000

/** Records the ends of phases: updates the index from the document, plans the retry after a failure, and orders the next phase. */
export function* phasesEnded(context: StoreContext, { now, ends }: Ends<unknown>): Step<void> {
  const ours = new Map(ends.flatMap((end) => (end.effect instanceof PhaseEffect ? [[end.runId, end] as const] : [])))
  const others = ends.filter(({ outcome, runId }) => outcome !== 'success' && !ours.has(runId))
  const asked = [...ours.values(), ...others]
  if (asked.length === 0) return
  const over = asked.filter(({ isOver }) => isOver).map(({ runId }) => runId)
  const taken = yield* takePhaseRuns(over)
  for (const { runId, corpusId, path, startedAt } of taken.sort((a, b) => a.corpusId - b.corpusId)) {
    const locked = yield* lockCorpusById(corpusId)
    if (locked === null) continue
    const corpus = startedAt === null ? locked : { ...locked, phaseMs: averageMs(locked.phaseMs, now - startedAt) }
    const end = asked.find((one) => one.runId === runId) as RunEnd
    const effect = end.effect instanceof PhaseEffect ? end.effect : null
    const item = yield* findItem(corpusId, path)
    const isWell = item !== null && (yield* booked({ corpus, item, end, effect, now }))
    yield* goOn({ ...context, ns: corpus.ns }, corpus, { effect, isWell })
  }
  for (const end of asked.filter(({ isOver }) => !isOver)) yield* givenBack(end)
}
phasesEnded.skipsPlain = true as const

/** The newest phase counts 30 %. */
const newestShare = 0.3

function averageMs(before: number | null, tookMs: number): number {
  return Math.max(0, Math.round(before === null ? tookMs : before + newestShare * (tookMs - before)))
}

interface Booking {
  readonly corpus: Corpus
  readonly item: Item
  readonly end: RunEnd
  readonly effect: PhaseEffect | null
  readonly now: number
}

/** Writes the end of a phase to its item. Returns whether the phase succeeded. */
function* booked(booking: Booking): Step<boolean> {
  const { corpus, item, end, effect } = booking
  const begun = effect?.begun ?? null
  if (item.runId !== end.runId) return false
  if (effect === null || begun === null || effect.end === null) {
    yield* unfinished(booking)
    return false
  }
  const written = corpus.spec.root === null ? inStore(corpus, item, effect) : effect.placed
  if (written === null) {
    yield* unfinished(booking)
    return false
  }
  const { end: phaseEnd } = effect
  const isWell = phaseEnd.kind === 'success'
  const { committed, hash } = written
  const text = corpus.spec.root === null ? written.text : null
  const standing =
    phaseEnd.kind === 'success' ? { attempts: 0, nextAt: null, reason: null } : afterFailure(booking, phaseEnd)
  const cleared = { ...item, ...standing, runId: null, hash, document: text, state: committed.phaseState }
  const isAborted = phaseEnd.kind === 'failed' && phaseEnd.code === 'ABORT'
  // The document has the newest error, or none. That of an earlier run, which was lost, must not outlive it.
  const { error: _, ...known } = isAborted ? untried(item.facts) : item.facts
  const facts = { ...known, files: item.facts.files ?? {} }
  const after = placed({ ...cleared, facts }, corpus)
  yield* saveItems([{ before: item, after }])
  const seen: Seen =
    text === null
      ? {
          ...seenInStore(after),
          ...written,
          document: committed.document,
          files: item.facts.files ?? {},
          text,
          raw: '',
          problem: null,
        }
      : seenInStore(after)
  yield* lookAt(corpus, [seen])
  if (text !== null) yield* keepCopies(booking, effect, committed)
  const looked = (yield* findItem(corpus.id, item.path)) as Item
  // The item's inputs may have changed while the phase was at work: the next look compares them with the inputs that the phase consumed.
  const stood = isAborted && text === null ? { ...looked, facts: untried(looked.facts) } : looked
  yield* saveItems([{ before: looked, after: { ...stood, isDirty: true } }])
  yield* tellReaders(item, looked)
  if (isWell) yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return isWell
}

/** Keeps the copies of an item in the store; copies of a document on disk are kept beside it. */
function* keepCopies(
  { corpus, now }: Booking,
  { order: { path }, end }: PhaseEffect,
  committed: CommittedPhase,
): Step<void> {
  const { document, rejected, isCycle } = committed
  if (rejected.length > 0 && end?.fields !== undefined) {
    yield* keepCopy(corpus, { path, document: end.fields }, { at: now, mark: 'rejected' })
  }
  if (isCycle) yield* keepCopy(corpus, { path, document }, { at: now })
}

/** Applies the end of a phase to an item in the store, whose row contains the document. */
function inStore(corpus: Corpus, item: Item, { begun, end, now, commit }: PhaseEffect) {
  const read = parsed(item.document ?? '')
  if (begun === null || end === null || !('document' in read)) return null
  const forms = formsOf(corpus)
  const { document: base, phaseState, form } = begun
  const committed = commitPhase({
    now,
    document: read.document,
    base,
    phaseState,
    phase: form.name,
    forms,
    end,
    commit,
  })
  const text = documentText(committed.document, item.document ?? '')
  return { committed, text, hash: hashOf(text), stat: '' }
}

/** Records a phase that was lost, cancelled or never begun. The document does not show such an end. */
function* unfinished(booking: Booking): Step<void> {
  const { corpus, item, end } = booking
  const phases = phaseNames(corpus)
  const phase = item.phase
  const isLost = end.outcome !== 'cancelled' && end.outcome !== 'skipped' && end.outcome !== 'success'
  const isAborted = end.outcome === 'cancelled'
  const event = isLost || isAborted ? ({ type: 'fail', phase } as const) : ({ type: 'stop', phase } as const)
  const state = transition({ phaseState: item.state, event, phases })
  const code = isAborted ? 'ABORT' : 'FAILED'
  const failure = { kind: 'failed', code, message: end.reason } as const
  const standing = isLost || isAborted ? afterFailure(booking, failure) : {}
  const kept = isAborted ? untried(item.facts) : item.facts
  const facts = isLost || isAborted ? { ...kept, error: { step: phase, code, message: end.reason } } : item.facts
  // The next look finds what a worker wrote before it was lost.
  const after = placed({ ...item, ...standing, state, facts, runId: null, isDirty: true }, corpus)
  yield* saveItems([{ before: item, after }])
  if (isAborted && corpus.spec.root === null) yield* lookAt(corpus, [seenInStore(after)])
  yield* tellReaders(item, after)
}

/** Without the inputs of the attempt, which an abort does not judge: the next look from the disk takes those that it finds for tried. */
function untried({ tried: _, ...facts }: ItemFacts): ItemFacts {
  return facts
}

/**
 * A look cannot do this: it compares with the row that the end of the phase has already written. Only this step knows that the item was
 * owed until now.
 */
function* tellReaders(before: Item, after: Item): Step<void> {
  if (isNewsForReaders(before, after)) yield* markReaders(after.corpusId, [after])
}

/**
 * The item counts its own retries: each waits twice as long as the one before, and after the last one the item is parked. An abort parks
 * the item at once.
 */
function afterFailure(
  { corpus, item, now }: Booking,
  { code, message }: { readonly code: string; readonly message: string },
): Pick<Item, 'attempts' | 'nextAt' | 'reason'> {
  if (code === 'ABORT')
    return { attempts: item.attempts, nextAt: null, reason: message === 'aborted' ? message : `aborted: ${message}` }
  const attempts = item.attempts + 1
  if (attempts >= corpus.spec.attempts) {
    return { attempts, nextAt: null, reason: `failed ${attempts} times, at last: ${message}` }
  }
  return { attempts, nextAt: now + Math.min(retryMsMax, tickMs(corpus, now) * 2 ** attempts), reason: null }
}

/** The time between two ticks. */
export function tickMs({ spec }: Pick<Corpus, 'spec'>, now: number): number {
  const times = cron(spec.cron, spec.zone)
  const first = times.next(now)
  const second = first === null ? null : times.next(first)
  return first === null || second === null ? retryMsMax : second - first
}

interface After {
  readonly effect: PhaseEffect | null
  readonly isWell: boolean
}

/**
 * Orders, in the transaction of the end of a phase, the next phase of an item that is brought to completion, and the next item of the line
 * if the corpus drains.
 */
function* goOn(context: StoreContext, corpus: Corpus, { effect, isWell }: After): Step<void> {
  if (effect?.order.isToCompletion === true && isWell) {
    const item = yield* findItem(corpus.id, effect.order.path)
    if (item !== null && item.phase !== '') {
      yield* orderPhase(context, corpus, { path: item.path, mode: 'trigger', isToCompletion: true })
    }
  }
  if (!corpus.spec.drain) return
  const { schedule } = yield* scheduleNow(context, systemName(corpus.name))
  const isPaused = schedule === null || schedule.paused !== null || schedule.disabled !== null
  if (!isPaused) yield* orderNext(context, (yield* lockCorpusById(corpus.id)) ?? corpus)
}

/** Releases the item of a run that was given back; another attempt of the same run follows. */
function* givenBack({ runId, effect }: RunEnd): Step<void> {
  if (!(effect instanceof PhaseEffect) || effect.begun === null) return
  const corpus = yield* lockCorpusById(effect.begun.corpus.id)
  const item = corpus === null ? null : yield* findItem(corpus.id, effect.order.path)
  if (corpus === null || item === null || item.runId !== runId) return
  yield* stopWork(corpus, item)
  yield* forgetPhase(runId)
}

/** Records that no run is at work on the item any longer; its phase is still owed. */
export function* stopWork(corpus: Corpus, item: Item): Step<void> {
  const event = { type: 'stop', phase: item.phase } as const
  const state = transition({ phaseState: item.state, event, phases: phaseNames(corpus) })
  yield* saveItems([{ before: item, after: placed({ ...item, state, runId: null }, corpus) }])
}
