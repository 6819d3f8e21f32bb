import type { PhaseEnd } from '../../../core/corpus/commit-phase.ts'
import { formatDuration } from '../../../core/duration.ts'
import { outcomeOf } from '../../../core/run/expect.ts'
import type { Attempt, Ended, Execute } from '../../../targets/attempt.ts'
import type { ExecutorHost, KindExecutor } from '../../../targets/kind.ts'
import { type Corpus, findCorpus, listCorpora, phaseNames, targetOfPhase } from '../corpus-row.ts'
import { readItem } from '../items/list-items.ts'
import { discardLeftovers } from '../tree/document-file.ts'
import { structureHash } from '../tree/fingerprints.ts'
import { seeItem } from '../tree/look-item.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { beginPhase } from './begin-phase.ts'
import { partialState, phaseAnswer } from './phase-answer.ts'
import { phaseDocument } from './phase-context.ts'
import { type BegunPhase, PhaseEffect } from './phase-effect.ts'
import type { PhaseOrder } from './phase-run.ts'

/** Executes phases. It announces the corpora whose root it sees, and whose targets this process can execute. */
export async function corpusExecutor(host: ExecutorHost): Promise<KindExecutor> {
  const named = new Map<string, Execute>()
  const execute: Execute = (attempt) => carriedOut(attempt, host)
  const refresh = async () => {
    const served = (await host.store.look(listCorpora)).filter((corpus) => isServed(corpus, host))
    for (const name of named.keys()) if (!served.some((corpus) => corpus.name === name)) named.delete(name)
    for (const { name } of served) named.set(name, execute)
  }
  await refresh()
  return { named, refresh }
}

/** Whether this process can execute every phase of the corpus. */
export function isServed(corpus: Corpus, { executeOf }: Pick<ExecutorHost, 'executeOf'>): boolean {
  if (rootProblem(corpus) !== null) return false
  return phaseNames(corpus).every((phase) => executeOf(targetOfPhase(corpus, phase)) !== null)
}

async function carriedOut(attempt: Attempt, host: ExecutorHost): Promise<Ended> {
  const order = attempt.payload as PhaseOrder
  const { runId: run, fence } = attempt
  const commit = { run, fence }
  const now = () => attempt.clock.now()
  const name = String(attempt.target.lane)
  const corpus = await host.store.look(findCorpus, name)
  const row = corpus === null ? null : await host.store.look(readItem, corpus.id, order.path)
  const seen = corpus === null || row === null ? null : await seeItem(corpus, row, { known: row })
  const isGone = corpus?.spec.root !== null && seen === null
  const begun = isGone
    ? { nothing: 'its document is gone' }
    : await host.store.do(beginPhase, name, { order, run, seen })
  if ('nothing' in begun) {
    const result = { item: order.path, phase: null, because: begun.nothing }
    return {
      facts: { json: result },
      result,
      effect: new PhaseEffect({ order, commit, begun: null, end: null, now: now() }),
    }
  }
  const { root } = begun.corpus.spec
  if (root !== null) discardLeftovers(root, order.path, `${run}.${fence}`)
  const { end, failure, tokens } = await judged(attempt, host, begun)
  const effect = new PhaseEffect({ order, commit, begun, end, now: now() })
  const result = { item: order.path, phase: begun.form.name, ...(tokens !== undefined && { tokens }) }
  if (failure !== undefined) return { facts: { error: failure, retryable: false }, result, effect }
  return { facts: { json: result, ...(tokens !== undefined && { usage: { tokensOut: tokens } }) }, result, effect }
}

interface Judged {
  readonly end: PhaseEnd | null
  readonly failure?: string
  readonly tokens?: number | undefined
}

/** Hands the phase's own target to the executor of its kind, and judges what it answered. */
async function judged(attempt: Attempt, host: ExecutorHost, begun: BegunPhase): Promise<Judged> {
  const { corpus, item, form, consumed } = begun
  const target = targetOfPhase(corpus, form.name)
  const execute = host.executeOf(target)
  if (execute === null) return failed('this worker cannot execute its target')
  const payload = await phaseDocument(host.store, begun)
  if (Buffer.byteLength(JSON.stringify(payload)) > inputBytesMax) return failed('what it would be handed is over 8 MB')
  const { ended, isLate } = await withinTime(attempt, { target, payload }, { execute, timeoutMs: form.timeoutMs })
  if (isLate) {
    const message = `timeout after ${formatDuration(form.timeoutMs)}`
    const fields = partialState(ended?.facts, form)
    return { end: { kind: 'failed', code: 'TIMEOUT', message, ...(fields && { fields }) }, failure: message }
  }
  if (ended === null) return failed('its executor did not answer')
  const outcome = outcomeOf({ facts: ended.facts })
  if (outcome.kind === 'failed') return failed(outcome.reason)
  const answer = phaseAnswer(ended.facts, form)
  if ('refused' in answer) return failed(answer.refused)
  const structure = structureHash(Object.keys(item.facts.files ?? item.facts.sources ?? {}))
  const { fields, tokens } = answer
  return { end: { kind: 'success', fields, inputs: consumed, structureHash: structure, tokens }, tokens }
}

const inputBytesMax = 8 * 1024 * 1024

function failed(message: string): Judged {
  return { end: { kind: 'failed', code: 'FAILED', message }, failure: message }
}

/** The phase's own timeout ends its target; a stop of the attempt ends it too. */
async function withinTime(
  attempt: Attempt,
  work: Pick<Attempt, 'target' | 'payload'>,
  { execute, timeoutMs }: { readonly execute: Execute; readonly timeoutMs: number },
): Promise<{ ended: Ended | null; isLate: boolean }> {
  const stop = new AbortController()
  const pass = () => stop.abort(attempt.signal.reason)
  attempt.signal.addEventListener('abort', pass, { once: true })
  if (attempt.signal.aborted) pass()
  let isLate = false
  const cancel = attempt.clock.after(timeoutMs, () => {
    isLate = true
    stop.abort('timeout')
  })
  try {
    return { ended: await execute(innerAttempt(attempt, { ...work, signal: stop.signal })), isLate }
  } catch (error) {
    return { ended: { facts: { error: (error as Error).message } }, isLate }
  } finally {
    cancel()
    attempt.signal.removeEventListener('abort', pass)
  }
}

/** The same attempt with another target: its fields are getters, which a spread would lose. */
function innerAttempt(attempt: Attempt, own: Pick<Attempt, 'target' | 'payload' | 'signal'>): Attempt {
  return new Proxy(attempt, {
    get(behind, name) {
      if (name in own) return own[name as keyof typeof own]
      const value: unknown = Reflect.get(behind, name, behind)
      return typeof value === 'function' ? value.bind(behind) : value
    },
  })
}
