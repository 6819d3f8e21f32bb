import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { BelfryClient } from '../../src/client/belfry-client.ts'
import { Shell } from './belfry-process.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
/** The example itself where the machine has Python, and its twin where it has not. */
const program = hasPython
  ? ['python3', fileURLToPath(new URL('../../examples/outside-host/host.py', import.meta.url))]
  : [process.execPath, fileURLToPath(new URL('./host.mjs', import.meta.url))]

const runsMax = 120
const ceiling = 5
const hostsMax = 8
const kills = 6

/** Eight hosts at work on one server, all writing to one file. */
class Hosts {
  readonly client: BelfryClient
  readonly #shell: Shell
  readonly #env: Readonly<Record<string, string>>
  readonly #witness: string
  readonly #running = new Map<string, ChildProcess>()
  #started = 0

  constructor(shell: Shell, url: string, token: string) {
    this.#shell = shell
    this.client = new BelfryClient({ url, token })
    this.#env = { PATH: process.env.PATH ?? '', BELFRY_URL: url, BELFRY_TOKEN: token }
    this.#witness = join(shell.folder, 'witness')
  }

  start(): void {
    const [command = '', ...args] = program
    const file = openSync(this.#witness, 'a')
    const name = `host-${++this.#started}`
    const stdio = ['ignore', file, 'inherit'] as ['ignore', number, 'inherit']
    const host = spawn(command, [...args, name, 'letters'], { env: this.#env, stdio })
    closeSync(file)
    this.#running.set(name, host)
  }

  lines(): string[][] {
    const text = readFileSync(this.#witness, 'utf8')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
  }

  /** The hosts that have begun something and not said that it is done. */
  #atWork(): string[] {
    const open = new Map<string, string>()
    for (const [what, , , host] of this.lines()) open.set(host as string, what as string)
    return [...open].filter(([name, what]) => what === 'begin' && this.#running.has(name)).map(([name]) => name)
  }

  /** Kills a host in the middle of its work, and starts another. */
  async killOne(): Promise<void> {
    const [name] = await vi.waitFor(
      () => {
        const found = this.#atWork()
        expect(found).not.toEqual([])
        return found
      },
      { timeout: 20_000, interval: 5 },
    )
    const victim = this.#running.get(name as string) as ChildProcess
    this.#running.delete(name as string)
    victim.kill('SIGKILL')
    await once(victim, 'exit')
    this.start()
  }

  async end(): Promise<void> {
    const running = [...this.#running.values()]
    for (const host of running) host.kill('SIGKILL')
    await Promise.all(running.map((host) => host.exitCode ?? host.signalCode ?? once(host, 'exit')))
  }

  get folder(): string {
    return this.#shell.folder
  }
}

async function hostsOn(kind: 'sqlite' | 'postgres'): Promise<Hosts> {
  const shell = new Shell(kind)
  const running = await shell.up('--listen 127.0.0.1:0')
  await running.told(/It listens at (\S+) /)
  const [, url = ''] = /It listens at (\S+) /.exec(running.stdout) ?? []
  const token = readFileSync(join(shell.folder, '.belfry', 'token'), 'utf8').trim()
  const hosts = new Hosts(shell, url, token)
  onTestFinished(() => hosts.end())
  return hosts
}

describe.each(['sqlite', 'postgres'] as const)('outside hosts on %s', (kind) => {
  it('are killed in the middle of their work, and nothing is lost, doubled or over the ceiling', {
    timeout: 120_000,
  }, async () => {
    const hosts = await hostsOn(kind)
    const { client } = hosts
    await client.queues.set('letters', { maxConcurrent: ceiling, leaseTtl: '1s', maxAttempts: 50, backoffBase: '10ms' })
    const payloads = Array.from({ length: runsMax }, (_, index) => ({ ms: 40 + (index % 7) * 20 }))
    const made = await client.runs.enqueueMany(payloads.map((payload) => ({ target: null, queue: 'letters', payload })))
    const failing = await client.runs.enqueue({ target: null, queue: 'failing', payload: { fails: true } })
    await client.queues.set('failing', { maxAttempts: 1 })
    let isOver = false
    const seen: number[] = []
    const watching = (async () => {
      while (!isOver) seen.push((await client.queues.get('letters')).inFlight)
    })()
    for (let count = 0; count < hostsMax; count++) hosts.start()
    for (let killed = 0; killed < kills; killed++) await hosts.killOne()
    const ids = made.map(({ id }) => id as string)
    const ended = async () => (await client.runs.list({ queue: 'letters', status: 'completed', limit: 1_000 })).runs
    await vi.waitFor(async () => expect(await ended()).toHaveLength(runsMax), { timeout: 60_000, interval: 100 })
    isOver = true
    await watching
    expect(new Set((await ended()).map(({ id }) => id))).toEqual(new Set(ids))
    expect(Math.max(...seen)).toBeLessThanOrEqual(ceiling)
    expect(Math.max(...seen)).toBeGreaterThan(1)
    for (const { id, fence } of await ended()) {
      const attempts = await client.runs.attempts(id)
      expect(attempts.filter(({ ends }) => ends !== null)).toHaveLength(1)
      expect(attempts.slice(0, -1).every(({ outcome }) => outcome === 'lost')).toBe(true)
      // Each attempt was begun by one host at most: nobody was handed what another holds.
      const begun = hosts.lines().filter(([what, run]) => what === 'begin' && run === id)
      expect(new Set(begun.map(([, , number]) => number)).size).toBe(begun.length)
      expect(begun.length).toBeLessThanOrEqual(fence)
    }
    // A kill in the middle of work shows as an attempt that was lost.
    const lost = (await ended()).filter(({ fence }) => fence > 1)
    expect(lost.length).toBeGreaterThan(0)
    const { leases } = await client.sched.lease({ host: 'a test', queue: 'failing' })
    await client.sched.release({ lease: leases[0]?.lease ?? '', failed: true, reason: 'no luck' })
    expect(await client.runs.get(failing.id as string)).toMatchObject({ status: 'parked' })
  })
})
