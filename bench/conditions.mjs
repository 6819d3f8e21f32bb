import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { percentiles } from './figures.mjs'
import { peerVersions } from './peers.mjs'

const syncs = 300

/** What a figure means nothing without: the machine, the versions, the disk, and how busy all of it was. */
export async function readConditions(places) {
  const { postgres, redis } = await places.versions()
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadBefore: loadavg()
      .map((load) => load.toFixed(2))
      .join(', '),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    sqlite: sqliteVersion(),
    postgres,
    redis,
    peers: peerVersions(),
    fsync: fsyncMs(places.folder),
  }
}

/** How long this disk takes to make 4 KB durable. */
export function fsyncMs(folder) {
  const path = join(folder, 'fsync')
  const file = openSync(path, 'w')
  const took = []
  const page = Buffer.alloc(4_096)
  for (let one = 0; one < syncs; one++) {
    const from = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    took.push(performance.now() - from)
  }
  closeSync(file)
  rmSync(path)
  return percentiles(took)
}

function sqliteVersion() {
  const database = new DatabaseSync(':memory:')
  try {
    return database.prepare('select sqlite_version() as version').get().version
  } finally {
    database.close()
  }
}
