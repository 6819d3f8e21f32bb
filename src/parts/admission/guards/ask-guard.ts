import { isPassing } from '../../../core/error.ts'
import { reasonText } from '../../../core/reason-text.ts'
import { type GuardAnswer, guardAnswer } from '../../../core/run/guard.ts'
import type { Target } from '../../../core/target.ts'
import { attemptName, type EngineContext } from '../../../engine/engine-context.ts'
import { executeTarget } from '../../../engine/execute-target.ts'
import type { Begin, Judged } from '../../../engine/part.ts'
import type { Lease } from '../../../store/port.ts'
import { type Guard, targetOfGuard } from './guard-field.ts'

const timeoutMs = 10_000
/** A check may run tests. */
const checkMs = 600_000
const keptBytesMax = 1_024

/** The guards among the options of a run. `until` comes from its schedule. */
export function guardsOf({ options }: Lease): {
  readonly when?: Guard
  readonly until?: Guard
  readonly check?: Guard
} {
  return options
}

/** Asks whether a leased run may start. Nothing of it has begun, so a guard that fails costs an attempt and does no harm. */
export async function askWhen(lease: Lease, context: EngineContext, signal: AbortSignal): Promise<Begin> {
  const { when } = guardsOf(lease)
  if (when === undefined) return { go: true }
  const { says, why } = await ask('when', when, { lease, context, signal })
  if (says === 'yes') return { go: true }
  return says === 'no' ? { skip: 'when' } : { fail: `guard: ${why}` }
}

/** Asks after a success whether the schedule is to end. Returns the guard that said yes; the end of the run carries it. */
export async function askUntil(lease: Lease, context: EngineContext, signal: AbortSignal): Promise<Guard | undefined> {
  const { until } = guardsOf(lease)
  if (until === undefined) return undefined
  const { says, why } = await ask('until', until, { lease, context, signal })
  // The run has completed, so a failure of the guard is only reported, and the next completed run asks again.
  if (says === 'failed' && !signal.aborted) {
    context.events.tell('guard.failed', { ...attemptName(lease), guard: 'until', reason: why })
  }
  return says === 'yes' ? until : undefined
}

/** Asks whether the result of a successful target is good. If the check says no, or cannot tell, the attempt fails. */
export async function askCheck(
  lease: Lease,
  context: EngineContext,
  signal: AbortSignal,
  { result = null }: { readonly result?: unknown },
): Promise<Judged | null> {
  const { check } = guardsOf(lease)
  if (check === undefined) return null
  const { says, why } = await ask('check', check, { lease, context, signal, payload: result })
  return says === 'yes' ? null : { fail: `check ${says === 'no' ? 'says no' : 'failed'}: ${why}` }
}

interface Asking {
  readonly lease: Lease
  readonly context: EngineContext
  readonly signal: AbortSignal
  /** What the guard reads. */
  readonly payload?: unknown
}

async function ask(name: 'when' | 'until' | 'check', guard: Guard, asking: Asking): Promise<GuardAnswer> {
  const { lease, context, signal, payload } = asking
  const limits = { timeoutMs: name === 'check' ? checkMs : timeoutMs, outputLengthMax: keptBytesMax, signal, payload }
  const { facts, output } = await executeTarget(context, lease, executedOf(guard, lease), limits)
  const { says, why } = guardAnswer({ facts, expect: guard.expect })
  const lines = linesOf(output === '' ? (facts.text ?? '') : output)
  await keep(context, lease, [`${name} ${says === 'failed' ? 'failed' : `said ${says}`}: ${why}`, ...lines])
  const last = says === 'failed' ? lines.at(-1) : undefined
  return { says, why: reasonText(last === undefined ? why : `${why}: ${last}`) }
}

/** A command without a folder of its own runs where the program of the run does. */
function executedOf(guard: Guard, { target: own }: Lease): Target {
  const target = targetOfGuard(guard)
  return target.command !== undefined && own?.cwd !== undefined ? { cwd: own.cwd, ...target } : target
}

/** The beginning of an output; a character that the limit cuts is left out. */
function linesOf(output: string): string[] {
  const text = Buffer.from(output.slice(0, keptBytesMax)).subarray(0, keptBytesMax).toString()
  const whole = text.replace(/\uFFFD$/, '').trim()
  return whole === '' ? [] : whole.split('\n')
}

/**
 * Adds what the guard wrote to the output of the run, each line marked. If the store does not answer, only these lines are
 * missing.
 */
async function keep({ store }: EngineContext, lease: Lease, lines: readonly string[]): Promise<void> {
  try {
    await store.appendOutput(lease, lines.map((line) => `guard: ${line}\n`).join(''))
  } catch (error) {
    if (!isPassing(error)) throw error
  }
}
