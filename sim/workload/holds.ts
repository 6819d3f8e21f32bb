import { kernelHoldReasons } from '../../src/core/hold-reason.ts'
import type { NewHold } from '../../src/store/holds/put-hold.ts'
import { handlerNames } from '../worker.ts'
import type { World } from '../world.ts'

const actor = { name: 'somebody', door: 'simulation' }

/** What `belfry go` lifts. */
export const stopped = { scope: 'namespace', subject: '', reason: 'stopped' } as const

/** A hold on something that is there, now or soon; most of them end by themselves while others are put. */
export function drawHold(
  { random, clock }: World,
  { queue, schedule }: { readonly queue: string; readonly schedule: string },
): NewHold {
  const subjects = {
    namespace: '',
    queue,
    kind: random.pick(['handler', `handler/${random.pick(handlerNames)}`, 'command']),
    schedule,
    key: random.pick(['one', 'two']),
  } as const
  const scope = random.weighted({ namespace: 1, queue: 2, kind: 2, schedule: 4, key: 4 })
  const from = random.chance(0.5) ? undefined : clock.now() + random.between(0, 3_000)
  const until = (from ?? clock.now()) + random.between(1, random.pick([50, 2_000, 20_000]))
  return {
    scope,
    subject: subjects[scope],
    from,
    until: random.chance(0.8) ? until : undefined,
    reason: kernelHoldReasons.hold,
    actor,
  }
}
