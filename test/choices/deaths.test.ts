import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Belfry } from '../../src/index.ts'
import type { NewWorker, Store } from '../../src/store/port.ts'
import { ownIdentity } from '../../src/store/workers/process-identity.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { settleDown } from '../engine/stage.ts'
import { isRunning, until, vanished } from '../targets/command/processes.ts'
import { heard, hour, live, minute, open, portOf, sqliteFile, target } from './stage.ts'
import { startWorker } from './worker.ts'

const own = ownIdentity()
/** Whatever happens before a lease of this length expires happens without it. */
const leaseMs = hour

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-choices-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The numbers that a command has put out. */
async function numbersSaid(belfry: Belfry, id: string, count: number): Promise<number[]> {
  const said = async () => (await belfry.runs.output(id))?.text.match(/\d+/g)?.map(Number) ?? []
  await vi.waitFor(async () => expect(await said()).toHaveLength(count), { timeout: 30_000, interval: 20 })
  return said()
}

describe('children of a dead worker', () => {
  it('end with it: the command, and what the command started, though nobody else looks', async () => {
    const store = sqliteFile()
    const belfry = await live({ store })
    const worker = await startWorker({ store, leaseMs })
    const { id } = await belfry.runs.enqueue({ target: { command: 'sleep 1000 & echo $! $$; wait' } })
    const pids = await numbersSaid(belfry, id, 2)
    expect(pids.filter(isRunning)).toEqual(pids)
    await worker.kill()
    await vanished(...pids)
    expect(await belfry.runs.get(id)).toMatchObject({ status: 'leased', fence: 1 })
  })

  // Only Linux shows the environment of other processes, by which leftovers are found.
  it.skipIf(own === null)('that left its group end before the run is given out again', async () => {
    const store = sqliteFile()
    const belfry = await live({ store, leaseMs })
    const worker = await startWorker({ store, leaseMs })
    const command = 'test "$BELFRY_ATTEMPT" = 2 && exit; setsid sleep 1000 & echo $! $$; wait'
    const { id } = await belfry.runs.enqueue({ target: { command } })
    const [leftover = 0, leader = 0] = await numbersSaid(belfry, id, 2)
    const stranger = livingProcess({
      BELFRY_RUN: id,
      BELFRY_ATTEMPT: '2',
      BELFRY_CLAIM: /\0BELFRY_CLAIM=([^\0]+)/.exec(readFileSync(`/proc/${leader}/environ`, 'latin1'))?.[1],
    })
    await worker.kill()
    await vanished(leader)
    expect(isRunning(leftover)).toBe(true)
    const wasRunning: boolean[] = []
    belfry.on('run.started', () => wasRunning.push(isRunning(leftover)))
    await belfry.start()
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', fence: 2 })
    expect(wasRunning).toEqual([false])
    // What belongs to another attempt is nobody's leftover.
    expect(isRunning(stranger.pid)).toBe(true)
  })

  it('run on while it is merely stopped, and the fence refuses what they come to', async () => {
    const store = sqliteFile()
    const folder = freshFolder()
    const belfry = await live({ store })
    const worker = await startWorker({ store, leaseMs: 1_500 })
    // Each attempt works until it may end, and marks that it came so far.
    const command = 'echo $$; until test -e "end-$BELFRY_ATTEMPT"; do sleep 0.01; done; touch "ended-$BELFRY_ATTEMPT"'
    const { id } = await belfry.runs.enqueue({ target: { command, cwd: folder } })
    const [pid = 0] = await numbersSaid(belfry, id, 1)
    worker.process.kill('SIGSTOP')
    const [reclaimed, started] = [heard(belfry, 'run.reclaimed'), heard(belfry, 'run.started')]
    await belfry.start()
    expect(await reclaimed).toMatchObject({ runId: id, fence: 1, because: 'expired' })
    expect(await started).toMatchObject({ runId: id, fence: 2 })
    expect(isRunning(pid)).toBe(true)
    writeFileSync(join(folder, 'end-1'), '')
    await until(() => existsSync(join(folder, 'ended-1')), 'for the command of the stopped worker')
    worker.process.kill('SIGCONT')
    await worker.hear('run.lease-lost')
    await worker.stop()
    expect(await belfry.runs.get(id)).toMatchObject({ status: 'leased', fence: 2 })
    writeFileSync(join(folder, 'end-2'), '')
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', fence: 2 })
    expect(await belfry.runs.attempts(id)).toMatchObject([
      { fence: 1, outcome: 'lost' },
      { fence: 2, outcome: 'success' },
    ])
  })
})

/** A worker of that process leases what is ready for hosts, and is not heard of again. */
async function leaseAs(port: Store, process: NewWorker['process']): Promise<string> {
  const can = { kinds: [], host: true }
  const some = process === undefined ? {} : { process }
  const workerId = await port.do(registerWorker, { name: 'other', host: 'here', can, beatMs: minute, ...some })
  const claimId = `of ${workerId}`
  const { leases } = await port.lease({ queue: 'default', workerId, claimId, can, limit: 1, leaseMs })
  return leases[0]?.runId ?? expect.unreachable('There was nothing to lease.')
}

function deadPid(): number {
  return spawnSync('true').pid
}

/** The pid and the start of a process that lives until the test is over. */
function livingProcess(env: NodeJS.ProcessEnv = {}): { pid: number; startedAt: string } {
  const child = spawn('sleep', ['1000'], { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  return { pid: child.pid ?? 0, startedAt: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '' }
}

// Only Linux tells enough about processes to prove one dead; elsewhere every holder waits for its lease.
describe.skipIf(own === null)('is that holder dead?', () => {
  const identity = own ?? { pid: 1, startedAt: '', bootId: '', pidNamespace: '' }

  it('one that was killed is, and others go on long before its lease expires', async () => {
    const store = sqliteFile()
    const belfry = await live({ store, leaseMs })
    const worker = await startWorker({ store, leaseMs })
    const { id } = await belfry.runs.enqueue({ target, payload: 'hangs once' })
    await worker.hear('run.started')
    await worker.kill()
    belfry.handle('work', () => 'done after all')
    const reclaimed = heard(belfry, 'run.reclaimed')
    await belfry.start()
    expect(await reclaimed).toMatchObject({ runId: id, fence: 1, because: 'holder-dead' })
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', fence: 2 })
  })

  it('its pid is gone, or another process has it: then it is, and nothing waits', async () => {
    const store = sqliteFile()
    const { belfry, clock, of } = await staged(store)
    const port = await portOf(store, clock)
    for (const process of [
      { ...identity, pid: deadPid() },
      { ...identity, ...livingProcess(), startedAt: '1' },
    ]) {
      const { id } = await belfry.runs.enqueue({ target: null, payload: 'for hosts' })
      expect(await leaseAs(port, process)).toBe(id)
      await belfry.drain()
      expect(of('run.reclaimed').at(-1)).toMatchObject({ runId: id, because: 'holder-dead' })
      await belfry.runs.cancel(id)
    }
  })

  it.each([
    ['it lives', () => ({ ...identity, ...livingProcess() })],
    [
      'it is in another pid namespace of the same boot',
      () => ({ ...identity, pid: deadPid(), pidNamespace: 'pid:[1]' }),
    ],
    ['it is of another boot', () => ({ ...identity, pid: deadPid(), bootId: 'of another machine' })],
    ['nobody knows its process', () => undefined],
  ])('%s: then it is not, and its lease is waited for', async (_, process) => {
    const store = sqliteFile()
    const { belfry, clock, of } = await staged(store)
    const { id } = await belfry.runs.enqueue({ target: null, payload: 'for hosts' })
    await leaseAs(await portOf(store, clock), process())
    for (const waitMs of [0, minute, leaseMs - minute - 1]) {
      clock.advance(waitMs)
      await belfry.drain()
      expect(await belfry.runs.get(id)).toMatchObject({ status: 'leased', fence: 1 })
    }
    clock.advance(1)
    await belfry.drain()
    expect(of('run.reclaimed')).toMatchObject([{ runId: id, because: 'expired' }])
  })

  it('is asked of local holders after five seconds at the most', async () => {
    const store = sqliteFile()
    const stage = await staged(store)
    await stage.belfry.start()
    await settleDown()
    const { id } = await stage.belfry.runs.enqueue({ target: null, payload: 'for hosts' })
    await leaseAs(await portOf(store, stage.clock), { ...identity, pid: deadPid() })
    await stage.pass(5_000, 5_000)
    expect(await stage.until('run.reclaimed')).toMatchObject({ runId: id, because: 'holder-dead' })
  })

  async function staged(store: string) {
    const stage = await open({ store, leaseMs })
    return Object.assign(stage, { of: stage.of.bind(stage) })
  }
})
