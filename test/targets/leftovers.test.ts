import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { endLeftovers } from '../../src/targets/leftovers.ts'
import { isRunning, until, vanished } from './command/processes.ts'

// Drawn, as the engine draws it: what another run of this file starts on the machine is not ours.
const claimId = randomUUID().replaceAll('-', '')
const attempt = { runId: 'r41', fence: 2, claimId, leasedAt: Date.now() }
const marks = (parts: Partial<typeof attempt> = {}) => {
  const { runId, fence, claimId: claim } = { ...attempt, ...parts }
  return { PATH: process.env.PATH, BELFRY_RUN: runId, BELFRY_ATTEMPT: String(fence), BELFRY_CLAIM: claim }
}

const started: ChildProcess[] = []
/** Pids that were started by what we started. */
const descendants: number[] = []
afterEach(async () => {
  const pids = [...started.splice(0).map(({ pid }) => pid ?? 0), ...descendants.splice(0)]
  for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  await vanished(...pids)
})

function start(command: readonly string[], env: NodeJS.ProcessEnv, isDetached = true): ChildProcess & { pid: number } {
  const [program = '', ...args] = command
  const child = spawn(program, args, { env, detached: isDetached, stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  return child as ChildProcess & { pid: number }
}

/** Sleeps, and the environment of a process can be seen only when it has become the program. */
async function sleeper(env: NodeJS.ProcessEnv, isDetached = true): Promise<number> {
  const child = start(['sh', '-c', 'echo up; exec sleep 1000'], env, isDetached)
  if (child.stdout !== null) await once(child.stdout, 'data')
  return child.pid
}

async function heard(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = ''
  child.stdout?.on('data', (bytes) => {
    text += bytes
  })
  await until(() => pattern.test(text), `to hear ${pattern}`)
  return pattern.exec(text) as RegExpExecArray
}

// Only Linux shows the environment of other processes.
describe.runIf(process.platform === 'linux')('leftovers of an attempt', () => {
  it('are ended, and those of every other attempt are not', async () => {
    const mine = await sleeper(marks())
    const others = await Promise.all([
      sleeper(marks({ runId: 'r4' })),
      sleeper(marks({ fence: 3 })),
      sleeper(marks({ claimId: claimId.replace(/.$/, (last) => (last === '0' ? '1' : '0')) })),
      sleeper({ PATH: process.env.PATH, BELFRY_RUN: 'r41', BELFRY_ATTEMPT: '2' }),
      sleeper({
        PATH: process.env.PATH,
        BELFRY_NOTE: `BELFRY_CLAIM=${claimId}`,
        BELFRY_RUN: 'r41',
        BELFRY_ATTEMPT: '2',
      }),
    ])
    expect(await endLeftovers([attempt])).toBe(1)
    expect(isRunning(mine)).toBe(false)
    expect(others.filter(isRunning)).toEqual(others)
  })

  it('are found for many attempts in one go', async () => {
    const many = [1, 2, 3].map((fence) => ({ ...attempt, fence }))
    const pids = await Promise.all(many.map(sleeperOf))
    expect(await endLeftovers([...many, { ...attempt, runId: 'r99' }])).toBe(3)
    expect(pids.filter(isRunning)).toEqual([])
  })

  it('are ended with their whole group, also those in it that hide where they come from', async () => {
    const child = start(['sh', '-c', 'env -i sleep 1000 & echo hidden $!; wait'], marks())
    const [, hidden] = await heard(child, /hidden (\d+)/)
    descendants.push(Number(hidden))
    await endLeftovers([attempt])
    await vanished(child.pid, Number(hidden))
  })

  it('are found also when they left their group', async () => {
    const leaver = `
      const child = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
      child.once('spawn', () => { console.log('left', child.pid); process.exit() })`
    const child = start([process.execPath, '-e', leaver], marks())
    const [, left] = await heard(child, /left (\d+)/)
    descendants.push(Number(left))
    await vanished(child.pid)
    expect(await endLeftovers([attempt])).toBe(1)
    expect(isRunning(Number(left))).toBe(false)
  })

  it('that would not end when asked are not asked', async () => {
    const child = start(['sh', '-c', `trap '' TERM INT HUP; echo up; while :; do sleep 0.01; done`], marks())
    await heard(child, /up/)
    expect(await endLeftovers([attempt])).toBeGreaterThan(0)
    expect(isRunning(child.pid)).toBe(false)
  })

  it('have the time after TERM that their environment gives them', async () => {
    const env = { ...marks(), BELFRY_KILL_AFTER_MS: '15000' }
    const calm = start(['sh', '-c', `trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done`], env)
    await heard(calm, /up/)
    const said = heard(calm, /bye/)
    expect(await endLeftovers([attempt])).toBeGreaterThan(0)
    await said
    await vanished(calm.pid)
  })

  it('are killed when that time is over, with all of their group, and have no more than any target may have', async () => {
    const env = { ...marks(), BELFRY_KILL_AFTER_MS: '999999999' }
    const deaf = `trap '' TERM; while :; do sleep 0.01; done`
    const child = start(['sh', '-c', `env -i sh -c "${deaf}" & echo hidden $!; ${deaf}`], env)
    const [, hidden] = await heard(child, /hidden (\d+)/)
    descendants.push(Number(hidden))
    expect(await endLeftovers([attempt], { killAfterMsMax: 200 })).toBeGreaterThan(0)
    await vanished(child.pid, Number(hidden))
  })

  it('are none that started before the attempt was leased', async () => {
    const early = await sleeper(marks())
    expect(await endLeftovers([{ ...attempt, leasedAt: Date.now() + 3_600_000 }])).toBe(0)
    expect(isRunning(early)).toBe(true)
  })

  it('in the group of whoever ends them are ended alone', async () => {
    const mine = await sleeper(marks(), false)
    const neighbour = await sleeper({ PATH: process.env.PATH }, false)
    expect(await endLeftovers([attempt])).toBe(1)
    expect(isRunning(mine)).toBe(false)
    expect(isRunning(neighbour)).toBe(true)
  })

  it('are never whoever looks for them, nor those it descends from', async () => {
    const looker = fileURLToPath(new URL('./leftover.mjs', import.meta.url))
    const task = JSON.stringify({ attempts: [attempt] })
    const mine = await sleeper(marks())
    // The shell waits for the looker, and both bear the marks. What they say is lost unless somebody listens when they end.
    const child = start(['sh', '-c', '"$@"; echo lives on', 'sh', process.execPath, looker, task], marks())
    const [, found] = await heard(child, /found (\d+)\nlives on/)
    expect(Number(found)).toBe(1)
    expect(isRunning(mine)).toBe(false)
  })

  it('are none when no attempt is named', async () => {
    const mine = await sleeper({ ...marks(), BELFRY_RUN: '', BELFRY_ATTEMPT: '', BELFRY_CLAIM: '' })
    expect(await endLeftovers([])).toBe(0)
    expect(isRunning(mine)).toBe(true)
  })
})

function sleeperOf(parts: Partial<typeof attempt>): Promise<number> {
  return sleeper(marks(parts))
}
