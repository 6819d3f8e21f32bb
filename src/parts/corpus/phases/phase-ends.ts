import { commitPhase } from '../../../core/corpus/commit-phase.ts'
import { transition } from '../../../core/corpus/phases.ts'
import { cron } from '../../../core/cron/cron.ts'
import { scheduleNow } from '../../../store/reads/find-schedule.ts'
import type { Ends, RunEnd } from '../../../store/runs/end-hooks.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, formsOf, lockCorpusById, phaseNames, saveCorpusCounts, systemName } from '../corpus-row.ts'
import { findItem, type Item, markReaders, placed, saveItems } from '../items/item-row.ts'
import { documentText, hashOf, parsed } from '../tree/document-file.ts'
import { isNewsForReaders, lookAt, type Seen, seenInStore } from '../tree/look-item.ts'
import { PhaseEffect } from './phase-effect.ts'
import { forgetPhase, orderNext, orderPhase, takePhaseRuns } from './phase-run.ts'

const retryMsMax = 86_400_000

/** Books the ends of phases: the index follows the document, the item's own retries follow a failure, and the next phase is ordered. */
export function* phasesEnded(context: StoreContext, { now, ends }: Ends<unknown>): Step<void> {
  const ours = new Map(ends.flatMap((end) => (end.effect instanceof PhaseEffect ? [[end.runId, end] as const] : [])))
  const others = ends.filter(({ outcome, runId }) => outcome !== 'success' && !ours.has(runId))
  const asked = [...ours.values(), ...others]
  if (asked.length === 0) return
  const over = asked.filter(({ isOver }) => isOver).map(({ runId }) => runId)
  const taken = yield* takePhaseRuns(over)
  for (const { runId, corpusId, path } of taken.sort((a, b) => a.corpusId - b.corpusId)) {
    const corpus = yield* lockCorpusById(corpusId)
    if (corpus === null) continue
    const end = asked.find((one) => one.runId === runId) as RunEnd
    const effect = end.effect instanceof PhaseEffect ? end.effect : null
    const item = yield* findItem(corpusId, path)
    const isWell = item !== null && (yield* booked({ corpus, item, end, effect, now }))
    yield* goOn({ ...context, ns: corpus.ns }, corpus, { effect, isWell })
  }
  for (const end of asked.filter(({ isOver }) => !isOver)) yield* givenBack(end)
}
phasesEnded.skipsPlain = true as const

interface Booking {
  readonly corpus: Corpus
  readonly item: Item
  readonly end: RunEnd
  readonly effect: PhaseEffect | null
  readonly now: number
}

/** Writes what became of an item. Returns whether its phase succeeded. */
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
  const after = placed({ ...cleared, facts: { ...item.facts, files: begun.item.facts.files ?? {} } }, corpus)
  yield* saveItems([{ before: item, after }])
  const seen: Seen =
    text === null
      ? {
          ...seenInStore(after),
          ...written,
          document: committed.document,
          files: begun.item.facts.files ?? {},
          text,
          raw: '',
          problem: null,
        }
      : seenInStore(after)
  yield* lookAt(corpus, [seen])
  const looked = (yield* findItem(corpus.id, item.path)) as Item
  // Its inputs may have changed while the phase was at work: the next look compares them with what it consumed.
  yield* saveItems([{ before: looked, after: { ...looked, isDirty: true } }])
  yield* tellReaders(item, looked)
  if (isWell) yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return isWell
}

/** An item in the store: its row is the document. */
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

/** Lost, cancelled or never begun: the document says nothing of it. */
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
  const facts = isLost || isAborted ? { ...item.facts, error: { step: phase, code, message: end.reason } } : item.facts
  // What a worker wrote before it was lost is found by the next look.
  const after = placed({ ...item, ...standing, state, facts, runId: null, isDirty: true }, corpus)
  yield* saveItems([{ before: item, after }])
  yield* tellReaders(item, after)
}

/** A look compares with the row that the end of the phase has written already: that the item was owed until now is known here only. */
function* tellReaders(before: Item, after: Item): Step<void> {
  if (isNewsForReaders(before, after)) yield* markReaders(after.corpusId, [after])
}

/** Retries are the item's: each waits twice as long as the one before, and after the last it is parked. An abort parks at once. */
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

/** What the end of a phase orders, in the same transaction: the next phase of an item that is brought to completion, and the next of the line. */
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

/** Another attempt of the same run follows. */
function* givenBack({ runId, effect }: RunEnd): Step<void> {
  if (!(effect instanceof PhaseEffect) || effect.begun === null) return
  const corpus = yield* lockCorpusById(effect.begun.corpus.id)
  const item = corpus === null ? null : yield* findItem(corpus.id, effect.order.path)
  if (corpus === null || item === null || item.runId !== runId) return
  const event = { type: 'stop', phase: item.phase } as const
  const state = transition({ phaseState: item.state, event, phases: phaseNames(corpus) })
  yield* saveItems([{ before: item, after: placed({ ...item, state, runId: null }, corpus) }])
  yield* forgetPhase(runId)
}
