import { describe, expect, it } from 'vitest'
import { at, day, Gate, heard, hour, live, minute, open, type Stage, target, time } from './stage.ts'
import { sharedStore, startWorker } from './worker.ts'

const hourly = { cron: '0 * * * *', zone: 'UTC' }

describe('a schedule survives', () => {
  it('its handler throwing: the failure is told, and the next occurrence comes', async () => {
    const stage = await open({
      work: ({ plannedAt }) => {
        if (time(plannedAt) === '10:00') throw new Error('the disk is full')
      },
    })
    await stage.put(hourly)
    await stage.put({ name: 'e', every: '1h' })
    await stage.drainTo('12:10')
    expect(await stage.ledger()).toEqual(['10:00 failed', '11:00 completed', '12:00 completed'])
    expect(await stage.ledger('e')).toEqual(['10:00 failed', '12:00:03 completed'])
    const [run] = await stage.runs()
    expect(run).toMatchObject({ attempts: 3, end: { reason: 'the disk is full (attempt 3/3)' } })
  })

  it('its handler hanging past its timeout: it is stopped, told, and the next occurrence comes', async () => {
    const stage = await open({ work: new Gate().pass })
    await stage.belfry.queues.set('default', { maxAttempts: 1 })
    await stage.put({ ...hourly, timeout: '10m' })
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started')
    await stage.passTo('10:10')
    expect(await stage.until('run.failed')).toMatchObject({ reason: expect.stringContaining('timeout after 10m') })
    await stage.passTo('11:00')
    await stage.until('run.started', 2)
    expect(await stage.ledger()).toEqual(['10:00 failed', '11:00 fired'])
  })

  it.each(['SQLite', 'PostgreSQL'] as const)(
    'its worker dying: another ends the occurrence, and the chain goes on (%s)',
    async (kind) => {
      const shared = { ...sharedStore(kind), leaseMs: hour, allowNonDurable: true }
      const belfry = await live(shared)
      const worker = await startWorker(shared)
      await belfry.schedules.put({ name: 's', every: '1s', startNow: true, payload: 'hangs once', target })
      await worker.hear('run.started')
      await worker.kill()
      const [before] = await belfry.schedules.history('s')
      expect(before).toMatchObject({ outcome: 'fired', endedAt: null })
      belfry.handle('work', () => 'done after all')
      const [reclaimed, completed] = [heard(belfry, 'run.reclaimed'), heard(belfry, 'run.completed')]
      await belfry.start()
      expect(await reclaimed).toMatchObject({ runId: before?.runId, because: 'holder-dead' })
      expect(await completed).toMatchObject({ runId: before?.runId, fence: 2 })
      // The chain hung on that run, and goes on from its end.
      const next = await heard(belfry, 'run.completed')
      const [second, first] = await belfry.schedules.history('s')
      expect(first).toMatchObject({ outcome: 'completed', from: before?.from, runId: before?.runId })
      expect(second).toMatchObject({ outcome: 'completed', runId: next.runId })
      expect(await belfry.runs.attempts(before?.runId ?? '')).toMatchObject([
        { fence: 1, outcome: 'lost' },
        { fence: 2, outcome: 'success' },
      ])
    },
  )

  it('its row being edited while it runs: the run ends as it was, and the new timing begins with the edit', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    await stage.put({ ...hourly, payload: 'old' })
    await stage.put({ name: 'e', every: '1h' })
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started', 2)
    await stage.passTo('10:20')
    await stage.belfry.schedules.update('s', { cron: '*/15 * * * *', payload: 'new', overlap: 'allow' })
    await stage.belfry.schedules.update('e', { every: '30m' })
    gate.open()
    await stage.until('run.completed', 2)
    await stage.drainTo('11:00')
    expect(await stage.ledger()).toEqual(['10:00 completed', '10:30 completed', '10:45 completed', '11:00 completed'])
    expect(await stage.ledger('e')).toEqual(['10:00 completed', '10:50 completed'])
    const history = (await stage.belfry.schedules.history('s')).toReversed()
    expect(history.map(({ decision }) => decision?.version)).toEqual([1, 2, 2, 2])
    expect((await stage.belfry.schedules.versions('s')).map(({ version }) => version)).toEqual([2, 1])
  })

  it('the clock stepping back an hour: nothing comes twice, and everything goes on', async () => {
    const stage = await open()
    await stage.put({ cron: '*/10 * * * *', zone: 'UTC' })
    await stage.put({ name: 'rate', every: '10m', from: 'start' })
    await stage.put({ name: 'delay', every: '10m' })
    await stage.belfry.start()
    await stage.drainTo('09:30')
    stage.clock.set(at('08:30').getTime())
    // Asked anew, each would name instants of the hour that comes again, but for what it remembers.
    for (const name of ['s', 'rate', 'delay']) await stage.belfry.schedules.update(name, { description: 'asked anew' })
    await stage.pass(2 * hour + 5_000, 5_000)
    expect(stage.of('clock.jumped')).toMatchObject([{ byMs: -hour }])
    const until1030 = ['09:10', '09:20', '09:30', '09:40', '09:50', '10:00', '10:10', '10:20', '10:30']
    expect(await stage.ledger()).toEqual(until1030.map((instant) => `${instant} completed`))
    expect(await stage.ledger('rate')).toEqual(until1030.map((instant) => `${instant} completed`))
    const delays = await stage.belfry.schedules.history('delay', { limit: 100 })
    expect(delays.filter(({ outcome }) => outcome !== 'completed')).toEqual([])
    expect(new Set(delays.map(({ from }) => from)).size).toBe(delays.length)
    expect(delays.length).toBeGreaterThan(3)
  })
})

describe('a schedule survives a month of downtime', () => {
  const startAt = at('09:00').getTime()
  const back = startAt + 30 * day + 30 * minute
  const newest = startAt + 30 * day

  /** Whoever worked is gone for a month. */
  async function afterAMonth(input: Parameters<Stage['put']>[0]): Promise<Stage> {
    const stage = await open()
    await stage.put(input)
    await stage.drainTo('09:59:59')
    await stage.passTo(back)
    await stage.drainTo(back + minute)
    return stage
  }

  const timings = { 'a cron': hourly, 'every from start': { every: '1h', from: 'start' } } as const

  describe.each(Object.entries(timings))('with %s', (_, timing) => {
    it('under once: one run, for the newest, and one row for all the others', async () => {
      const stage = await afterAMonth(timing)
      expect(await stage.ledger()).toEqual([`10:00..${time(newest - hour)} x719 missed`, `${time(newest)} completed`])
      expect(stage.seen).toHaveLength(1)
    })

    it('under skip: no run, one row, and the next comes at its instant', async () => {
      const stage = await afterAMonth({ ...timing, missed: 'skip' })
      expect(await stage.ledger()).toEqual([`10:00..${time(newest)} x720 missed`])
      await stage.drainTo(newest + hour)
      expect(stage.starts).toEqual([time(newest + hour)])
      expect(await stage.ledger()).toEqual([`10:00..${time(newest)} x720 missed`, `${time(newest + hour)} completed`])
    })

    it('under all: what is no more than a day late runs, oldest first, and the rest is one row', async () => {
      const stage = await afterAMonth({ ...timing, missed: 'all' })
      const late = Array.from({ length: 24 }, (_, index) => newest - (23 - index) * hour)
      expect(await stage.ledger()).toEqual([
        `10:00..${time(newest - 24 * hour)} x696 lateness`,
        ...late.map((instant) => `${time(instant)} completed`),
      ])
      expect(stage.seen.map(({ run }) => run.plannedAt)).toEqual(late)
    })

    it('under all with a longer maxLateness: the newest hundred run, and the rest is one row', async () => {
      const stage = await afterAMonth({ ...timing, missed: 'all', maxLateness: '60d' })
      const [before, ...made] = await stage.ledger()
      expect(before).toBe(`10:00..${time(newest - 100 * hour)} x620 missed`)
      expect(made).toHaveLength(100)
      expect(made.filter((row) => !row.endsWith(' completed'))).toEqual([])
    })
  })

  it('with a fixed delay: the one that was planned is late, and the chain goes on from now', async () => {
    const stage = await afterAMonth({ every: '1h' })
    expect(await stage.ledger()).toEqual(['10:00 lateness'])
    expect(await stage.next()).toBe(`${time(back + hour)} baseline-interval`)
  })
})

describe('a schedule survives a DST day in its zone', () => {
  const zone = 'Europe/Paris'
  /** From one midnight in Paris to the next. */
  const spring = ['2026-03-28T23:00Z', '2026-03-29T22:00Z'] as const
  const autumn = ['2026-10-24T22:00Z', '2026-10-25T23:00Z'] as const

  /** What became of that day's occurrences, by the clock of UTC. */
  async function dayOf([from, to]: readonly [string, string], cron: string): Promise<string[]> {
    const stage = await open({ startAt: Date.parse(from) })
    await stage.put({ cron, zone })
    await stage.belfry.start()
    await stage.drainTo(Date.parse(to) - 1)
    expect(stage.seen.map(({ run }) => time(run.plannedAt))).toEqual(stage.starts)
    return stage.ledger()
  }

  /** Every hour from an instant on. */
  function hoursFrom(from: string, count: number): string[] {
    return Array.from({ length: count }, (_, index) => `${time(Date.parse(from) + index * hour)} completed`)
  }

  it('in spring, fixed: what the missing hour holds comes once, at the first instant after it', async () => {
    expect(await dayOf(spring, '30 2 * * *')).toEqual(['03-29 01:00 completed'])
    expect(await dayOf(spring, '*/20 2 * * *')).toEqual(['03-29 01:00 completed'])
  })

  it('in spring, wildcard: what does not exist does not come', async () => {
    expect(await dayOf(spring, '30 * * * *')).toEqual(hoursFrom('2026-03-28T23:30Z', 23))
  })

  it('in autumn, fixed: only the first pass of the hour that comes twice counts', async () => {
    expect(await dayOf(autumn, '30 2 * * *')).toEqual(['10-25 00:30 completed'])
    const thirds = ['10-25 00:00 completed', '10-25 00:20 completed', '10-25 00:40 completed']
    expect(await dayOf(autumn, '*/20 2 * * *')).toEqual(thirds)
  })

  it('in autumn, wildcard: both passes count', async () => {
    expect(await dayOf(autumn, '30 * * * *')).toEqual(hoursFrom('2026-10-24T22:30Z', 25))
  })
})
