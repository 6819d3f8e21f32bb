import { always, type Fault } from '../fault.ts'
import { connections } from './connections.ts'
import { crashOnce } from './crash.ts'
import { killElsewhere } from './kill.ts'
import { pause } from './pause.ts'
import { terminate } from './terminate.ts'

/** Longer, and what was missed meanwhile would be spread over half a minute. */
const awayMsMax = 300

/** Several at once, as they come: it is counted by its kills, and the others are so many to each of them. */
export const storm: Fault = {
  id: 'F99',
  title: 'all at once',
  on: ['sqlite', 'postgres'],
  timesPerRound: 60,
  async arrange(world) {
    world.choice = { isBlind: world.random.next() < 0.5, accountShare: 0.15 }
    await world.startMany(3)
  },
  async inject(world, times) {
    const share = (each: number) => Math.ceil(times * each)
    const ofServer =
      world.place.cluster === null ? [] : [connections.inject(world, share(1)), crashOnce(world, awayMsMax)]
    const [kills] = await Promise.all([
      killElsewhere.inject(world, times),
      pause.inject(world, share(0.25)),
      terminate.inject(world, share(0.15)),
      ...ofServer,
    ])
    return kills
  },
  settle: killElsewhere.settle,
  // Whoever goes while the store is away has to leave what it holds to its expiry, so that this is not judged here.
  expect: always,
}
