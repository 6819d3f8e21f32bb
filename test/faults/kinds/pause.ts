import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import { holdsWriteLock } from '../file-lock.ts'
import { leaseMs, type World } from '../world.ts'

const workers = 6
const pausedAtOnce = 3

/** Stops a worker where it is for longer or shorter than its lease; answers whether it held anything past its lease. */
async function pauseOnce(world: World): Promise<boolean> {
  const pauseMs = world.random.between(0.5 * leaseMs, 4 * leaseMs)
  const worker = world.pick(({ isPaused }) => !isPaused)
  if (worker === undefined) {
    await sleep(10)
    return false
  }
  const at = Date.now()
  let isClosed = false
  worker.pause()
  try {
    const { workerId } = worker
    const held = await world.heldBy(workerId)
    // By now it has really stopped, wherever it was.
    isClosed = world.house.file !== undefined && holdsWriteLock(worker.pid, world.house.file)
    world.interruptions.push({ kind: 'pause', at, workerId, held })
    await sleep(at + pauseMs - Date.now())
    return held.length > 0 && held.every(({ expiresAt }) => expiresAt < Date.now())
  } finally {
    worker.goOn()
    if (isClosed) world.closures.push({ from: at, to: Date.now() })
  }
}

/** A pause counts when it outlasted the leases of a worker that held some; shorter ones happen in between. */
export const pause: Fault = {
  id: 'F11',
  title: 'SIGSTOP past the lease',
  on: ['sqlite', 'postgres'],
  recovery: 'pause',
  timesPerRound: 60,
  arrange: (world) => world.startMany(workers),
  async inject(world, times) {
    let done = 0
    const oneAfterAnother = async () => {
      while (done < times) {
        if (await pauseOnce(world)) done++
        await sleep(world.random.between(50, 300))
      }
    }
    await Promise.all(Array.from({ length: pausedAtOnce }, oneAfterAnother))
    return done
  },
  settle: comeToRest,
  expect: always,
}
