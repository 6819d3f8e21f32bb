import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../scripts/postgres-server.mjs'

/**
 * Places to measure in: a fresh folder, a fresh database of one PostgreSQL server with default settings, or a fresh Redis.
 * Each run of a contestant has one to itself, so that nobody inherits another's dead rows.
 */
export async function openPlaces() {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
  const server = await startPostgres()
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  let count = 0
  const kinds = {
    nowhere: async () => ({ leave: () => undefined }),
    async sqlite() {
      const home = join(folder, String(++count))
      mkdirSync(home)
      const file = join(home, 'bench.db')
      return { file, store: `sqlite:${file}`, leave: () => rmSync(home, { recursive: true, force: true }) }
    },
    async postgres() {
      const name = `bench_${++count}`
      await admin.query(`create database ${name}`)
      // A checkpoint that an earlier run has earned must not fall into this one.
      await admin.query('checkpoint')
      const url = server.url.replace(/\/postgres$/, `/${name}`)
      return { url, store: url, leave: () => admin.query(`drop database ${name} with (force)`) }
    },
    redis: (setting) => startRedis(join(folder, String(++count)), setting),
  }
  return {
    folder,
    open: (kind, setting) => kinds[kind](setting),
    async versions() {
      const { rows } = await admin.query('show server_version')
      return { postgres: rows[0].server_version, redis: redisVersion() }
    },
    async close() {
      await admin.end()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The version of the `redis-server` on the path, or null where there is none. */
export function redisVersion() {
  try {
    const said = execFileSync('redis-server', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return /v=([\d.]+)/.exec(said)?.[1] ?? 'unknown'
  } catch {
    return null
  }
}

async function startRedis(home, { appendfsync = 'everysec' } = {}) {
  mkdirSync(home)
  const port = await freePort()
  const flags = {
    port,
    bind: '127.0.0.1',
    dir: home,
    appendonly: 'yes',
    appendfsync,
    save: '',
    'maxmemory-policy': 'noeviction',
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise((resolve) => server.once('exit', resolve))
  await new Promise((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (chunk) => {
      said = (said + chunk).slice(-4_000)
      if (said.includes('Ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`redis-server ended while starting: ${said.slice(-300)}`)))
  })
  return {
    port,
    async leave() {
      server.kill('SIGTERM')
      await gone
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function freePort() {
  const probe = createServer()
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return port
}
