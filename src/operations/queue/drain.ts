import { z } from 'zod'
import { drainQueue } from '../../store/lease-to-host.ts'
import { queueName } from '../fields.ts'
import { everyDoor, operation } from '../operation.ts'
import { outputOf } from '../output.ts'
import { type HandedOut, handedOut, reclaimFirst, requestOf, toldOf } from '../sched/hand-out.ts'
import { capabilityFields, host, leasesLimit } from '../sched/lease-input.ts'
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
  input: z.strictObject({ name: queueName, host, limit: leasesLimit, ...capabilityFields }),
  takes: ['name'],
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
  examples: [{ name: 'letters', host: 'script-1', limit: 20 }],
  async run(context, { name, ...given }) {
    const request = requestOf(context, { ...given, queue: name })
    const reclaimed = await reclaimFirst(context, request.queue)
    const answer = await context.store.do(drainQueue, request)
    for (const { runId } of answer.leases) void context.waits.look(runId)
    return {
      runs: answer.leases.map(leasedRunOf),
      ...toldOf(request.queue, { ...answer, reclaimed }),
    }
  },
})
