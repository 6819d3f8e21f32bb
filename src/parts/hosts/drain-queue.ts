import { z } from 'zod'
import { queueName } from '../../operations/fields/basic-fields.ts'
import { refuse } from '../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import type { AnswerOf } from '../../operations/schema/output-schema.ts'
import { handedOut, reclaimFirst, requestOf, toldOf } from './hand-out.ts'
import { adminFields, capabilityFields, host, kindProblems, leasesLimit } from './lease-input.ts'
import { leasedRun, leasedRunOf } from './lease-schema.ts'
import { drainQueue } from './lease-to-host.ts'
import { showDraining } from './show.ts'

const draining = z.strictObject({
  runs: z
    .array(leasedRun)
    .describe('The runs, in queue order. They count as completed: Belfry does not track whether you do them.'),
  ...handedOut,
})
export type Draining = AnswerOf<typeof draining>

const input = z.strictObject({ name: queueName, host, limit: leasesLimit, ...capabilityFields })

export const drain = operation({
  noun: 'queue',
  verb: 'drain',
  adminFields,
  says: 'Lease the next runs of a queue and end them as completed at once; the caller must do them.',
  request: 'a drain',
  effect: 'destructive',
  scope: 'operate',
  input,
  takes: ['name'],
  output: draining,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  show: showDraining,
  examples: [{ name: 'letters', host: 'script-1', limit: 20 }],
  async judge(context, { value, problems }) {
    refuse('The drain', [...problems, ...kindProblems(value, context.kinds)])
    const { name, ...given } = value as z.output<typeof input>
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
