import { systemClock } from '../core/clock.ts'
import { isEnded } from '../core/run-state.ts'
import { durationOf } from './duration-input.ts'
import { read } from './input.ts'
import type { AnyOperation } from './operation.ts'
import { refuse } from './problem.ts'
import { get } from './run/look.ts'
import type { Run } from './run/view.ts'
import { wait } from './run/wait.ts'
import { tooLong } from './run/waits.ts'

/** Calls a verb of a server. */
type Ask = (operation: AnyOperation, input: unknown) => Promise<unknown>

type Composition = (ask: Ask, input: unknown, signal?: AbortSignal) => Promise<unknown>

/** How long one request is held: well below what proxies allow. */
const pieceMs = 30_000

/** A run may take hours and a request may not, so that a wait is as many requests as it takes. */
const waitInPieces: Composition = async (ask, input, signal) => {
  const { value, problems: found } = read(wait.input, input, wait.request)
  const problems = [...found]
  const timeoutMs = durationOf(value, 'timeout', problems)
  refuse('The wait', problems)
  const endsAt = timeoutMs === undefined ? Number.POSITIVE_INFINITY : systemClock.monotonic() + timeoutMs
  const { id } = value as { readonly id: string }
  for (;;) {
    signal?.throwIfAborted()
    const leftMs = Math.max(1, Math.ceil(endsAt - systemClock.monotonic()))
    const run = (await ask(get, { id, waitMs: Math.min(leftMs, pieceMs) })) as Run
    if (isEnded(run.status) || run.status === 'parked') return run
    if (timeoutMs !== undefined && systemClock.monotonic() >= endsAt) throw tooLong(id, timeoutMs)
  }
}

/** Verbs that have no route of their own: a client makes them of others that have. */
export const composed: ReadonlyMap<AnyOperation, Composition> = new Map([[wait as AnyOperation, waitInPieces]])
