import { describe, expect, it, vi } from 'vitest'
import type { Belfry } from '../../src/index.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from '../engine/faulty-store.ts'
import { stage as engineStage, openPlace, settleDown } from '../engine/stage.ts'
import { until } from '../targets/command/processes.ts'
import { live, minute, target } from './stage.ts'
import { sharedStore, startWorker } from './worker.ts'

describe('many processes', () => {
  it.each(['SQLite', 'PostgreSQL'] as const)(
    'may all schedule, and every occurrence has one end whoever of them dies (%s)',
    async (kind) => {
      const shared = { ...sharedStore(kind), allowNonDurable: true }
      const belfry = await live(shared)
      await belfry.queues.set('default', { maxConcurrent: 50 })
      const names = ['a', 'b', 'c', 'd', 'e']
      for (const name of names) {
        await belfry.schedules.put({ name, cron: '* * * * * *', zone: 'UTC', overlap: 'allow', target })
      }
      const workers = await Promise.all([1, 2, 3].map(() => startWorker(shared)))
      const fired = () => workers.flatMap((worker) => worker.of('schedule.fired'))
      // One after the other dies, and those who are left go on.
      for (const worker of workers) {
        const before = fired().length
        await until(() => fired().length >= before + names.length, 'for those who are left to fire')
        if (worker !== workers.at(-1)) await worker.kill()
      }
      // Not paused, for the dead may have left runs of it that others are yet to take up.
      const endAt = new Date(Date.now() + 1_000)
      for (const name of names) await belfry.schedules.update(name, { endAt })
      const occurrences = fired().map(({ schedule, occurrenceAt }) => `${schedule} ${occurrenceAt}`)
      expect(new Set(occurrences).size).toBe(occurrences.length)
      const patience = { timeout: 30_000, interval: 50 }
      for (const name of names) await vi.waitFor(() => everySecondEnded(belfry, name), patience)
    },
  )

  /** The rows follow each other without a gap and without a second end, and what ran has come to its end. */
  async function everySecondEnded(belfry: Belfry, name: string): Promise<void> {
    const rows = (await belfry.schedules.history(name)).toReversed()
    expect(rows.filter(({ runId, outcome }) => runId !== null && outcome !== 'completed')).toEqual([])
    expect(rows.filter(({ from, to, count }) => to - from !== (count - 1) * 1_000)).toEqual([])
    expect(rows.slice(1).map(({ from }) => from - 1_000)).toEqual(rows.slice(0, -1).map(({ to }) => to))
  }

  it('leave a singleton duty to one of them, and to another when the lease on it is over', async () => {
    const clock = new TestClock()
    const real = await openPlace({ clock })
    const done: string[] = []
    const workers = await Promise.all(
      ['one', 'other'].map(async (name) => {
        const world = faulty(real)
        world.fault = (verb) => void (/^(prune|repair)$/.test(verb) && done.push(`${verb} by ${name}`))
        return engineStage({ clock, store: world.store, settings: { beatMs: minute, reconcileMs: minute } })
      }),
    )
    const beat = async () => {
      clock.advance(minute)
      await settleDown()
    }
    for (const { engine } of workers) {
      await engine.start()
      await settleDown()
    }
    for (let beats = 0; beats < 5; beats++) await beat()
    expect(new Set(done)).toEqual(new Set(['repair by one', 'prune by one']))
    await workers[0]?.engine.stop()
    done.length = 0
    await beat()
    expect(done).toEqual([])
    for (let beats = 0; beats < 3; beats++) await beat()
    expect(new Set(done)).toEqual(new Set(['repair by other', 'prune by other']))
  })
})

// The row "config in a repo" has no tests here, because no file can be applied: Belfry reads none.
