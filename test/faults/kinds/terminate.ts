import { setTimeout as sleep } from 'node:timers/promises'
import { nothingLeftLeased } from '../check.ts'
import { always, comeToRest, type Fault } from '../fault.ts'
import type { World } from '../world.ts'

/** Asks a worker under load to go: it must go by itself, with 0. What it still held then is noted. */
async function terminateOne(world: World): Promise<void> {
  const worker = await world.start({ armAtAck: world.random.whole(1, 10), graceMs: world.random.whole(0, 300) })
  await worker.armed
  await sleep(world.random.between(0, 50))
  const at = Date.now()
  const code = await worker.end()
  const { workerId } = worker
  world.interruptions.push({ kind: 'farewell', at, workerId, held: await world.heldBy(workerId) })
  if (code !== 0) world.troubles.push(`a worker that was asked to end did so with ${code}`)
}

export const terminate: Fault = {
  id: 'F24',
  title: 'SIGTERM under load',
  on: ['sqlite', 'postgres'],
  timesPerRound: 100,
  async arrange(world) {
    world.choice = { longShare: 0.15 }
    await world.startMany(2)
  },
  /** Several at a time, so that some are always on their way. */
  async inject(world, times) {
    let left = times
    const oneAfterAnother = async () => {
      while (left-- > 0) await terminateOne(world)
    }
    await Promise.all([oneAfterAnother(), oneAfterAnother(), oneAfterAnother()])
    return times
  },
  settle: comeToRest,
  expect: [...always, nothingLeftLeased],
}
