import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { problemsIn } from '../operations/desk.ts'
import { postgresUrl } from '../postgres.ts'
import { at, day, Gate, hour, live, minute, open, portOf, type Stage, sqliteFile, target, time } from './stage.ts'

const leaseMs = 30_000
const everyMinute = { cron: '* * * * *', zone: 'UTC' }

/** What the machine's clock says before anybody sets it wrong. */
function realNow(): number {
  return Math.round(performance.timeOrigin + performance.now())
}

/** This process's wall clock is a day ahead until the test is over. */
function setAhead(): void {
  const now = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + day)
  onTestFinished(() => now.mockRestore())
}

/** Holds a run of its own and stands beside one that somebody else holds, of whom nothing is certain. */
async function besideAnother(store: string): Promise<{ stage: Stage; own: string; other: string }> {
  const stage = await open({ store, leaseMs, work: new Gate().pass })
  await stage.belfry.start()
  const own = await stage.belfry.runs.enqueue({ target })
  await stage.until('run.started')
  const other = await stage.belfry.runs.enqueue({ target: null, payload: 'for a host' })
  const port = await portOf(store, stage.clock)
  const can = { kinds: [], host: true }
  const workerId = await port.do(registerWorker, { name: 'other', host: 'elsewhere', can, beatMs: minute })
  await port.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs })
  return { stage, own: own.id, other: other.id }
}

describe('clocks', () => {
  it("PostgreSQL's clock is the fleet's, whatever the machine of a worker says", async () => {
    const schema = `c${randomUUID().replaceAll('-', '')}`
    setAhead()
    const belfry = await live({ store: postgresUrl(), schema, allowNonDurable: true })
    belfry.handle('work', () => expect.unreachable('It is not due.'))
    // By this machine's clock that has long been over.
    const inAnHour = realNow() + hour
    await belfry.schedules.put({ name: 's', at: new Date(inAnHour), target })
    const { id } = await belfry.runs.enqueue({ target, notBefore: new Date(inAnHour) })
    await belfry.drain()
    expect(await belfry.schedules.get('s')).toMatchObject({ nextRunAt: inAnHour })
    const run = await belfry.runs.get(id)
    expect(run.status).toBe('ready')
    expect(Math.abs(run.enqueuedAt - realNow())).toBeLessThan(hour)
  })

  it("SQLite's clock is the machine's", async () => {
    setAhead()
    const belfry = await live({ store: sqliteFile() })
    const [problem] = await problemsIn(belfry.schedules.put({ name: 's', at: new Date(realNow() + hour), target }))
    expect(problem?.problem).toContain('which is in the past')
    const { id } = await belfry.runs.enqueue({ target })
    expect(Math.abs((await belfry.runs.get(id)).enqueuedAt - realNow() - day)).toBeLessThan(hour)
  })

  it('a jump makes a process renew what it holds, and reclaim nothing for the length of a lease', async () => {
    const { stage, own, other } = await besideAnother(sqliteFile())
    await stage.pass(1_000)
    const expiresAt = async () => (await stage.belfry.runs.get(own)).lease?.expiresAt ?? 0
    const before = await expiresAt()
    stage.clock.set(stage.clock.now() + hour)
    // It sees the jump when it next looks for dead workers, and would renew only after another five seconds.
    await stage.pass(4_500)
    expect(stage.of('clock.jumped')).toMatchObject([{ byMs: hour }])
    expect(await expiresAt()).toBeGreaterThan(before + hour)
    // By the clock on the wall the other lease has been over for an hour.
    await stage.pass(leaseMs - 5_500)
    expect(stage.of('run.reclaimed')).toEqual([])
    await stage.pass(10_000)
    expect(stage.of('run.reclaimed')).toMatchObject([{ runId: other, because: 'expired' }])
    expect(await stage.belfry.runs.get(own)).toMatchObject({ status: 'leased', fence: 1 })
  })

  it('a difference of a second is no jump', async () => {
    const { stage, other } = await besideAnother(sqliteFile())
    await stage.pass(1_000)
    stage.clock.set(stage.clock.now() + 1_000)
    await stage.pass(leaseMs + 5_000)
    expect(stage.of('clock.jumped')).toEqual([])
    expect(stage.of('run.reclaimed')).toMatchObject([{ runId: other }])
  })

  it('before its last tick a process fires nothing until time has caught up', async () => {
    const stage = await open()
    await stage.put(everyMinute)
    await stage.belfry.start()
    await stage.pass(minute, 10_000)
    expect(stage.starts).toEqual(['09:01'])
    stage.clock.set(at('09:00:30').getTime())
    await stage.put({ name: 'new', every: '10s', startNow: true })
    await stage.pass(29_000, 1_000)
    expect(stage.of('clock.held')).toHaveLength(1)
    expect(stage.starts).toEqual(['09:01'])
    await stage.pass(2_000, 1_000)
    expect(stage.starts).toEqual(['09:01', '09:01'])
    await stage.pass(minute, 1_000)
    expect(await stage.ledger()).toEqual(['09:01 completed', '09:02 completed'])
  })

  it('before its last tick a process waits a minute at most, and then goes on from what was planned last', async () => {
    const stage = await open()
    await stage.put(everyMinute)
    await stage.belfry.start()
    await stage.pass(2 * minute, 10_000)
    expect(stage.starts).toEqual(['09:01', '09:02'])
    stage.clock.set(at('08:02').getTime())
    await stage.put({ name: 'new', every: '30s', startNow: true })
    await stage.belfry.schedules.update('s', { description: 'asked anew' })
    await stage.pass(59_000, 1_000)
    expect(stage.starts).toEqual(['09:01', '09:02'])
    await stage.pass(3_000, 1_000)
    expect(stage.starts.slice(2).map((instant) => instant?.slice(0, 5))).toEqual(['08:03'])
    // What has been planned is over for good: the hour that comes again fires nothing of it twice.
    await stage.drainTo('09:04')
    const { id } = await stage.belfry.schedules.get('s')
    const planned = stage.seen.filter(({ run }) => run.scheduleId === id).map(({ run }) => time(run.plannedAt))
    expect(planned).toEqual(['09:01', '09:02', '09:03', '09:04'])
  })
})
