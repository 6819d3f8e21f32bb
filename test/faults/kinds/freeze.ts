import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import { asked } from '../postgres-cluster.ts'
import { leaseMs, type World } from '../world.ts'

const backends = `select pid from pg_stat_activity where application_name = 'belfry' and state is not null
  order by state = 'idle', random() limit 3`

/** The server's own process every fourth time: then nobody can connect, and those who are connected go on. */
async function victimOf(world: World): Promise<number | undefined> {
  if (world.random.next() < 0.25) return world.place.cluster?.pid
  const rows = await asked(world.house.store, backends)
  return world.random.pick(rows.map(({ pid }) => Number(pid)))
}

/** A server process that is there and says nothing. One in the middle of a claim keeps the queue to itself. */
export const freeze: Fault = {
  id: 'F10',
  title: 'server process frozen',
  on: ['postgres'],
  timesPerRound: 20,
  arrange: (world) => world.startMany(4),
  async inject(world, times) {
    let done = 0
    while (done < times) {
      const pid = await victimOf(world)
      if (pid === undefined) continue
      const frozenMs = world.random.between(0.5 * leaseMs, 3 * leaseMs)
      try {
        process.kill(pid, 'SIGSTOP')
      } catch {
        // It ended between the look and the signal.
        continue
      }
      await sleep(frozenMs)
      process.kill(pid, 'SIGCONT')
      done++
      await sleep(world.random.between(100, 600))
    }
    return done
  },
  settle: comeToRest,
  expect: always,
}
