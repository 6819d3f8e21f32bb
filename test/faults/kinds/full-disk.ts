import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import { freshFolder, type House, type Place } from '../place.ts'
import { asked } from '../postgres-cluster.ts'
import type { World } from '../world.ts'

const sizes = { sqlite: '24m', postgres: '64m' } as const
const nobody = 65_534

/** A disk of its own that is soon full, beside the folder of the witness. */
function smallDisk(folder: string, size: string): string | { disk: string; unmount: () => void } {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0755`, 'tmpfs', disk], { stdio: 'pipe' })
  } catch (error) {
    return `no small disk can be mounted here: ${String((error as { stderr?: unknown }).stderr ?? error).trim()}`
  }
  // The SQLite driver lets go of its files when it is collected; the disk goes with the last of them.
  return { disk, unmount: () => void execFileSync('umount', ['-l', disk], { stdio: 'pipe' }) }
}

async function houseOnSmallDisk(place: Place): Promise<House | string> {
  const folder = freshFolder()
  const small = smallDisk(folder, sizes[place.kind])
  if (typeof small === 'string') {
    rmSync(folder, { recursive: true, force: true })
    return small
  }
  const { disk, unmount } = small
  const leave = async () => {
    unmount()
    rmSync(folder, { recursive: true, force: true })
  }
  if (place.cluster === null) {
    return { folder, store: `sqlite:${join(disk, 'belfry.db')}`, schema: 'belfry', close: leave }
  }
  return tablespaceOn({ url: place.cluster.url, disk, folder, leave })
}

interface SmallServer {
  readonly url: string
  readonly disk: string
  readonly folder: string
  readonly leave: () => Promise<void>
}

/** A database in a tablespace of its own: its tables run out of space while the server's log does not. */
async function tablespaceOn({ url, disk, folder, leave }: SmallServer): Promise<House> {
  const location = join(disk, 'tables')
  mkdirSync(location)
  if (process.getuid?.() === 0) {
    execFileSync('chmod', ['0755', folder])
    chownSync(location, nobody, nobody)
  }
  const name = `f${randomUUID().replaceAll('-', '')}`
  await asked(url, `create tablespace ${name} location '${location}'`)
  await asked(url, `create database ${name} tablespace ${name}`)
  const store = new URL(url)
  store.pathname = `/${name}`
  return {
    folder,
    store: store.href,
    schema: 'belfry',
    async close() {
      await asked(url, `drop database ${name} with (force)`)
      await asked(url, `drop tablespace ${name}`)
      await leave()
    },
  }
}

/** Fills what is left of the disk, as somebody else's log would, and gives it back after a while. */
async function fill(world: World): Promise<void> {
  const disk = join(world.house.folder, 'disk')
  const file = join(disk, 'somebody-elses')
  const { bavail, bsize } = statfsSync(disk)
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize))
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  }
  await sleep(world.random.between(200, 1_500))
  rmSync(file, { force: true })
}

export const fullDisk: Fault = {
  id: 'F12',
  title: 'disk full',
  on: ['sqlite', 'postgres'],
  timesPerRound: 20,
  house: houseOnSmallDisk,
  arrange: (world) => world.startMany(3),
  async inject(world, times) {
    for (let done = 0; done < times; done++) {
      await sleep(world.random.between(200, 1_000))
      await fill(world)
    }
    return times
  },
  settle: comeToRest,
  expect: always,
}
