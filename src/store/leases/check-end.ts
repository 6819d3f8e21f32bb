import type { Outcome } from '../../core/run/verdict.ts'
import { checkChoice, invalid } from '../check.ts'
import type { AttemptEnd } from '../port.ts'
import { checkFence } from './fence.ts'

/** For each kind of outcome: whether a reason is required, allowed or refused. */
const reasons: Record<Outcome['kind'], 'required' | 'optional' | 'none'> = {
  success: 'none',
  failed: 'required',
  lost: 'none',
  unknown: 'required',
  released: 'none',
  'forced-stop': 'none',
  parked: 'required',
  cancelled: 'optional',
  skipped: 'required',
  deferred: 'required',
}
const kinds = Object.keys(reasons) as Outcome['kind'][]

/** Refuses a malformed end: an unknown outcome must not count as success, nor a bad instant as a backoff. */
export function checkEnd({ fence, outcome }: AttemptEnd): void {
  checkFence(fence)
  if (typeof outcome !== 'object' || outcome === null) {
    throw invalid('outcome', `is ${outcome === null ? 'null' : typeof outcome}`, 'an object with a kind')
  }
  const kind = checkChoice(outcome.kind, 'outcome.kind', kinds)
  const { noop } = outcome as { readonly noop?: unknown }
  if (kind === 'success' && noop === undefined) return
  const { reason, retryable, holderDied, hasBegun, retryAfterMs, retryAt, until } = outcome as Readonly<
    Record<string, unknown>
  >
  const isNeeded = reasons[kind] === 'required' || (reasons[kind] === 'optional' && reason !== undefined)
  if (isNeeded && typeof reason !== 'string') throw invalid('outcome.reason', `is ${shown(reason)}`, 'a text')
  for (const [field, value] of Object.entries({ retryable, holderDied, hasBegun, noop })) {
    if (value !== undefined && typeof value !== 'boolean')
      throw invalid(`outcome.${field}`, `is ${shown(value)}`, 'true or false')
  }
  for (const [field, value] of Object.entries({ retryAfterMs, retryAt })) {
    if (value !== undefined && !Number.isFinite(value))
      throw invalid(`outcome.${field}`, `is ${shown(value)}`, 'a finite number of ms')
  }
  if (kind === 'deferred' && !Number.isFinite(until))
    throw invalid('outcome.until', `is ${shown(until)}`, 'an instant in ms')
}

function shown(value: unknown): string {
  return typeof value === 'number' || value === null ? String(value) : typeof value
}
