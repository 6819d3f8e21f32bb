import { join } from 'node:path'
import { noTrouble, nothingLost, recordedOnce } from '../check.ts'
import { comeToRest, type Fault } from '../fault.ts'
import { PhaseKills } from '../phase-kills.ts'

/** Every so many kills a worker is stopped past its lease, just before or just after its fence is checked. */
const pauseEvery = 20

/** Workers of a corpus, each killed at another point of a phase, between two calls of the disk or of the database. */
export const phases: Fault = {
  id: 'F34',
  title: 'a phase of a corpus, kill -9 at its points',
  on: ['sqlite', 'postgres'],
  timesPerRound: 200,
  hasSchedules: false,
  arrange: () => Promise.resolve(),
  async inject(world, times) {
    const { store, schema, folder } = world.house
    // A file of its own: this process has the other one open, by another copy of the library.
    const place = world.place.kind === 'postgres' ? { store, schema } : { store: `sqlite:${join(folder, 'phases.db')}` }
    const kills = await PhaseKills.open({ ...place, folder })
    try {
      const { points, troubles } = await kills.strike()
      world.troubles.push(...troubles)
      for (let time = 0; time < times; time++) {
        const point = 1 + Math.floor((time * (points ?? 1)) / times)
        const struck =
          time % pauseEvery === pauseEvery - 1
            ? await kills.pause(world.random.next() < 0.5 ? 'fsyncSync' : 'renameSync')
            : await kills.strike({ point })
        world.troubles.push(...struck.troubles)
      }
      return times
    } finally {
      await kills.close()
    }
  },
  settle: comeToRest,
  // Its workers have no witness, so that starts and ends are not compared with it; what else is wrong is told as trouble.
  expect: [nothingLost, recordedOnce, noTrouble],
}
