import { systemClock } from '../../../core/clock.ts'
import type { PhaseEnd } from '../../../core/corpus/commit-phase.ts'
import { formatDuration } from '../../../core/duration.ts'
import { BelfryError } from '../../../core/error.ts'
import { type EndFacts, outcomeOf } from '../../../core/run/expect.ts'
import type { Usage } from '../../../core/run/usage.ts'
import type { Attempt, Ended, Execute } from '../../../targets/attempt.ts'
import type { ExecutorHost, KindExecutor } from '../../../targets/kind.ts'
import { type Corpus, expectOfPhase, findCorpus, listCorpora, phaseNames, targetOfPhase } from '../corpus-row.ts'
import type { Item } from '../items/item-row.ts'
import { readItem } from '../items/list-items.ts'
import { structureHash } from '../tree/fingerprints.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { seeItem } from '../tree/see-item.ts'
import { scopeOf } from '../tree/walk-tree.ts'
import { watcherOf } from '../watcher/known-watchers.ts'
import { beginPhase } from './begin-phase.ts'
import { answerBytesMax, partialState, phaseAnswer, tokensIn } from './phase-answer.ts'
import { type PhaseDocument, phaseDocument } from './phase-context.ts'
import { type BegunPhase, PhaseEffect } from './phase-effect.ts'
import type { PhaseOrder } from './phase-run.ts'

/** Executes phases. The executor announces the corpora whose root this process sees and whose targets it can execute. */
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
  const { names, unlisted } = corpus === null || row === null ? {} : await namesListed(attempt, host, corpus, row)
  const own = names === undefined ? { known: row } : { known: row, names }
  const seen = corpus === null || row === null ? null : await seeItem(corpus, row, own)
  const isGone = corpus?.spec.root !== null && seen === null
  const begun = isGone
    ? { nothing: 'its document is gone' }
    : await host.store.do(beginPhase, name, { order, run, seen })
  if ('nothing' in begun) {
    const result = { item: order.path, phase: null, because: begun.nothing }
    const isWrong = 'isWrong' in begun
    return {
      facts: isWrong ? { error: begun.nothing, retryable: false } : { json: result },
      result,
      effect: new PhaseEffect({ order, commit, begun: null, end: null, now: now() }),
    }
  }
  const { end, failure, tokens, beside } =
    unlisted === undefined ? await judged(attempt, host, begun) : failed(unlisted)
  const effect = new PhaseEffect({ order, commit, begun, end, now: now() })
  const result = { item: order.path, phase: begun.form.name, ...(tokens !== undefined && { tokens }) }
  const facts = failure === undefined ? { json: result } : { error: failure, retryable: false }
  return { facts: { ...facts, ...beside }, result, effect }
}

interface Listed {
  /** The names of the item's files, if they were unknown before. */
  readonly names?: readonly string[]
  /** Why the files cannot be listed: the phase fails with this reason, and is retried like any other failure. */
  readonly unlisted?: string
}

/** An item that was created after the last tick has files that the external watcher has not been asked about yet. */
async function namesListed(
  { signal }: Attempt,
  host: ExecutorHost,
  corpus: Corpus,
  { path, facts }: Item,
): Promise<Listed> {
  const { root, ignore } = corpus.spec
  const outside = await watcherOf({ ...host, clock: systemClock }, corpus)
  if (outside === undefined || root === null || Object.keys(facts.files ?? {}).length > 0) return {}
  try {
    return { names: await scopeOf(root, path, { ignore, listed: await outside.walk(path, signal) }) }
  } catch (error) {
    return { unlisted: (error as Error).message }
  }
}

interface PhaseVerdict {
  readonly end: PhaseEnd | null
  readonly failure?: string
  readonly tokens?: number | undefined
}

interface Judged extends PhaseVerdict {
  /** What the target used, and what its provider said: it counts even if the phase failed. */
  readonly beside?: Pick<EndFacts, 'usage' | 'utilisation' | 'rateLimited'>
}

/** Hands the phase's own target to the executor of its kind, and judges the answer. */
async function judged(attempt: Attempt, host: ExecutorHost, begun: BegunPhase): Promise<Judged> {
  const { corpus, form } = begun
  const target = targetOfPhase(corpus, form.name)
  const execute = host.executeOf(target)
  if (execute === null) return failed('this worker cannot execute its target')
  const payload = await phaseDocument(host.store, begun).catch(refusedBy)
  if (payload instanceof BelfryError) return failed(payload.message)
  const tooMuch = overweight(payload)
  if (tooMuch !== null) return failed(tooMuch)
  const used: { tokens?: number } = {}
  const usage = (report: Usage) => {
    attempt.usage(report)
    const { tokensIn: read, tokensOut: written } = report
    // Unknown is not 0.
    if (read !== undefined || written !== undefined) used.tokens = (used.tokens ?? 0) + (read ?? 0) + (written ?? 0)
  }
  const came = await withinTime(attempt, { target, payload, usage }, { execute, timeoutMs: form.timeoutMs })
  const verdict = verdictOfPhase(came, begun)
  const facts = came.ended?.facts
  const answered = verdict.tokens ?? tokensIn(facts?.json).tokens
  const tokens = answered ?? used.tokens
  const end = verdict.end?.kind === 'success' ? { ...verdict.end, tokens } : verdict.end
  return { ...verdict, end, tokens, beside: besideOf(facts, answered, used.tokens) }
}

/** What was reported while the target ran is counted already, and the answer has the sum. */
function besideOf(
  { utilisation, rateLimited }: EndFacts = {},
  answered: number | undefined,
  reported: number | undefined,
): NonNullable<Judged['beside']> {
  return {
    ...(answered !== undefined && { usage: { tokensOut: Math.max(0, answered - (reported ?? 0)) } }),
    ...(utilisation !== undefined && { utilisation }),
    // The item is not at fault: its run waits until the limit opens, and no other phase runs into the same limit meanwhile.
    ...(rateLimited !== undefined && { rateLimited: { ...rateLimited, defersAlways: true } }),
  }
}

function verdictOfPhase(
  { ended, isLate }: { readonly ended: Ended | null; readonly isLate: boolean },
  { corpus, item, form, consumed }: BegunPhase,
): PhaseVerdict {
  if (isLate) {
    const message = `timeout after ${formatDuration(form.timeoutMs)}`
    const fields = partialState(ended?.facts, form)
    return { end: { kind: 'failed', code: 'TIMEOUT', message, ...(fields && { fields }) }, failure: message }
  }
  if (ended === null) return failed('its executor did not answer')
  const outcome = outcomeOf({ facts: ended.facts, expect: expectOfPhase(corpus, form.name) })
  if (outcome.kind === 'failed') return failed(outcome.reason)
  const answer = phaseAnswer(ended.facts, form)
  const { tokens } = answer
  if ('refused' in answer) return { ...failed(answer.refused), tokens }
  const structure = structureHash(Object.keys(item.facts.files ?? item.facts.sources ?? {}))
  const { fields } = answer
  return { end: { kind: 'success', fields, inputs: consumed, structureHash: structure }, tokens }
}

/** A prompt that cannot be read fails the phase, which is then retried like any other. */
function refusedBy(error: unknown): BelfryError {
  if (error instanceof BelfryError) return error
  throw error
}

const inputBytesMax = 8 * 1024 * 1024

/** Names the largest field of the payload, so that its owner knows which one to shorten. */
function overweight(payload: PhaseDocument): string | null {
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  if (bytesOf(payload) <= inputBytesMax) return null
  const [most] = Object.entries(payload).sort(([, one], [, other]) => bytesOf(other) - bytesOf(one))
  return `what it would be handed has ${bytesOf(payload)} bytes, more than ${inputBytesMax}, most of them in ${most?.[0]}`
}

function failed(message: string): Judged {
  return { end: { kind: 'failed', code: 'FAILED', message }, failure: message }
}

/** The target ends at the phase's own timeout, and when the attempt is stopped. */
async function withinTime(
  attempt: Attempt,
  work: Pick<Attempt, 'target' | 'payload' | 'usage'>,
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
    return { ended: await execute(innerAttempt(attempt, { ...work, answerBytesMax, signal: stop.signal })), isLate }
  } catch (error) {
    return { ended: { facts: { error: (error as Error).message } }, isLate }
  } finally {
    cancel()
    attempt.signal.removeEventListener('abort', pass)
  }
}

/** The same attempt with another target. Its fields are getters, which a spread would evaluate once and lose. */
function innerAttempt(
  attempt: Attempt,
  own: Pick<Attempt, 'target' | 'payload' | 'usage' | 'signal' | 'answerBytesMax'>,
): Attempt {
  return new Proxy(attempt, {
    get(behind, name) {
      if (name in own) return own[name as keyof typeof own]
      const value: unknown = Reflect.get(behind, name, behind)
      return typeof value === 'function' ? value.bind(behind) : value
    },
  })
}
