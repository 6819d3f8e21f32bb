import { z } from 'zod'
import { everyDoor, operation } from '../operation.ts'
import { outputOf } from '../output.ts'
import { type HandedOut, handedOut, reclaimFirst, requestOf, toldOf } from '../sched/hand-out.ts'
import { capabilityFields, host, leasesLimit, queue } from '../sched/lease-input.ts'
import { type LeasedRun, leasedRun, leasedRunOf } from '../sched/lease-output.ts'

export interface Draining extends HandedOut {
  readonly runs: readonly LeasedRun[]
}

export const drain = operation({
  noun: 'queue',
  verb: 'drain',
  says: 'Takes the next runs of a queue as completed, and tells what they are; whoever asks must do them.',
  request: 'a drain',
  effect: 'destructive',
  scope: 'operate',
  input: z.strictObject({ host, queue, limit: leasesLimit, ...capabilityFields }),
  takes: ['host'],
  output: outputOf<Draining>()(
    z.strictObject({
      runs: z
        .array(leasedRun)
        .describe('What was taken, in queue order. Nobody remembers that it is still to be done.'),
      ...handedOut,
    }),
  ),
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  examples: [{ host: 'script-1', queue: 'letters', limit: 20 }],
  async run(context, given) {
    const request = requestOf(context, given)
    const reclaimed = await reclaimFirst(context, request.queue)
    const answer = await context.store.drain(request)
    for (const { runId } of answer.leases) void context.waits.look(runId)
    return {
      runs: answer.leases.map(leasedRunOf),
      ...(await toldOf(context, request.queue, { ...answer, reclaimed })),
    }
  },
})
