import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import { asked } from '../postgres-cluster.ts'
import type { World } from '../world.ts'

const terminate = 'select pg_terminate_backend(pid) as done from pg_stat_activity where application_name ='
/** Whoever holds the lock of a queue is in the middle of a claim. */
const victims = {
  anybody: `${terminate} 'belfry' order by random() limit 1`,
  inTheMiddle: `${terminate} 'belfry' and state <> 'idle' order by random() limit 1`,
  claiming: `${terminate} 'belfry' and state <> 'idle' and query ilike '%for no key update%' order by random() limit 1`,
  listening: `${terminate} 'belfry listen' order by random() limit 1`,
} as const

/** Terminates one connection of the kind; there may be none just now. */
async function cut(world: World, kind: keyof typeof victims): Promise<boolean> {
  try {
    const rows = await asked(world.house.store, victims[kind])
    return rows.length > 0
  } catch {
    // The server itself may just be away.
    return false
  }
}

async function cutMany(world: World, times: number, kinds: readonly (keyof typeof victims)[]): Promise<number> {
  let done = 0
  while (done < times) {
    if (await cut(world, world.random.pick(kinds) ?? 'anybody')) done++
    await sleep(world.random.between(0, 100))
  }
  return done
}

export const connections: Fault = {
  id: 'F8',
  title: 'connections terminated',
  on: ['postgres'],
  timesPerRound: 200,
  arrange: (world) => world.startMany(4),
  inject: (world, times) => cutMany(world, times, ['anybody', 'inTheMiddle', 'inTheMiddle', 'claiming']),
  settle: comeToRest,
  expect: always,
}

/** Nobody hears of anything any more until the listener is back: all goes on, only not as soon. */
export const listener: Fault = {
  id: 'F9',
  title: 'listener terminated',
  on: ['postgres'],
  timesPerRound: 100,
  arrange: (world) => world.startMany(4),
  inject: (world, times) => cutMany(world, times, ['listening']),
  settle: comeToRest,
  expect: always,
}
