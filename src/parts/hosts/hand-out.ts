import { z } from 'zod'
import { claimBytes } from '../../operations/lease/lease-id.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { type AnswerOf, flag, text } from '../../operations/schema/output-schema.ts'
import type { LeaseAnswer, Reclaimed } from '../../store/port.ts'
import { capabilitiesOf, queueOf } from './lease-input.ts'
import { reclaimedSchema, setAsideOf, setAsideSchema } from './lease-schema.ts'

export const handedOut = {
  queue: text('The queue.'),
  setAside: z
    .array(setAsideSchema)
    .describe(
      'Runs that were not leased but removed from the line: they were too late, or could not be read and were parked.',
    ),
  reclaimed: z.array(reclaimedSchema).describe('Expired leases of this queue that were reclaimed first.'),
  stopped: z
    .enum(['held-by', 'policy-unreadable', 'no-queue'])
    .nullable()
    .describe('Why no run can be leased. no-queue: no run or policy has named the queue yet.'),
  hold: text('The hold on the whole queue, if there is one.').nullable(),
  full: flag('Whether the queue is at its ceiling, so that no run was leased.'),
  more: flag('Whether there may be more runs that can start now: lease again without waiting.'),
}

/** Facts beside the leased runs. */
export type HandedOut = AnswerOf<z.ZodObject<typeof handedOut>>

interface Given {
  readonly host: string
  readonly queue?: string | undefined
  readonly limit?: number | undefined
  readonly kinds?: readonly string[] | undefined
  readonly handlers?: readonly string[] | undefined
}

export function requestOf({ randomHex, actor }: OperationContext, given: Given) {
  const { host, limit = 1 } = given
  const claimId = randomHex(claimBytes)
  return { host, limit, queue: queueOf(given.queue), can: capabilitiesOf(given), by: actor.name, claimId }
}

/** The most expired leases that one call reclaims; the next call continues. */
export const reclaimMax = 100

/** An expired lease keeps its slot, so a call reclaims expired leases first. */
export async function reclaimFirst({ store, waits }: OperationContext, queue: string): Promise<Reclaimed[]> {
  const reclaimed = await store.reclaim({ queue, limit: reclaimMax })
  for (const { runId } of reclaimed) void waits.look(runId)
  return reclaimed
}

/** A queue that does not exist yet has no runs, and is not refused: a host may start before the first run. */
export function toldOf(queue: string, answer: LeaseAnswer & { readonly reclaimed: readonly Reclaimed[] }): HandedOut {
  const { stopped = null, hold = null, more, reclaimed } = answer
  const full = answer.full && answer.leases.length === 0
  return { queue, setAside: setAsideOf(answer), reclaimed, stopped, hold, full, more }
}
