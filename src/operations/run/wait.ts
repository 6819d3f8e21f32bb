import { z } from 'zod'
import { systemClock } from '../../core/clock.ts'
import { isEnded } from '../../core/run/run-state.ts'
import type { Ask } from '../door-facts.ts'
import { runId } from '../fields/basic-fields.ts'
import { durationFields, durationOf } from '../input/duration-input.ts'
import { read } from '../input/read-input.ts'
import { refuse } from '../input/refuse-input.ts'
import { waitLocal } from '../input/wait-input.ts'
import { operation } from '../operation.ts'
import { type Run, runOf } from './run-answer.ts'
import { get } from './run-reads.ts'
import { runSchema } from './run-schema.ts'
import { runShown } from './show.ts'
import { tooLong } from './waits.ts'

const waitInput = z.strictObject({
  id: runId,
  ...durationFields('timeout', 'How long to wait at most. Default: without limit.'),
})

export type WaitInput = Omit<z.input<typeof waitInput>, 'id'> & z.input<typeof waitLocal>

export const wait = operation({
  noun: 'run',
  verb: 'wait',
  waits: true,
  compose: waitInPieces,
  isOk: ({ status }) => status === 'completed',
  says: 'Wait until a run has ended or is parked, and return it.',
  request: 'a wait',
  effect: 'read',
  scope: 'read',
  input: waitInput,
  takes: ['id'],
  local: waitLocal,
  output: runSchema,
  errors: ['invalid', 'not-found'],
  doors: {
    library: true,
    cli: true,
    http: 'A request is held open for at most a minute: read the run with wait, as the client does.',
    mcp: 'A tool answers within a minute, and a run may take hours: read the run with wait.',
  },
  show: runShown,
  examples: [{ id: 'r-11' }, { id: 'r-11', timeout: '90s' }],
  async judge(context, { value, problems: found }, { signal }) {
    const problems = [...found]
    const timeoutMs = durationOf(value, 'timeout', problems)
    refuse('The wait', problems)
    return runOf(await context.waits.wait(value.id as string, { timeoutMs, signal }))
  },
})

/** How long one request is held: well below the limit of proxies. */
const pieceMs = 30_000

/** A run may take hours and a request may not, so a wait at a server repeats requests. */
async function waitInPieces(ask: Ask, input: unknown, signal?: AbortSignal): Promise<Run> {
  const { value, problems: found } = read(waitInput, input, 'a wait')
  const problems = [...found]
  const timeoutMs = durationOf(value, 'timeout', problems)
  refuse('The wait', problems)
  const endsAt = timeoutMs === undefined ? Number.POSITIVE_INFINITY : systemClock.monotonic() + timeoutMs
  const { id } = value as { readonly id: string }
  for (;;) {
    signal?.throwIfAborted()
    const leftMs = Math.max(1, Math.ceil(endsAt - systemClock.monotonic()))
    const run = await ask(get, { id, waitMs: Math.min(leftMs, pieceMs) })
    if (isEnded(run.status) || run.status === 'parked') return run
    if (timeoutMs !== undefined && systemClock.monotonic() >= endsAt) throw tooLong(id, timeoutMs)
  }
}
