import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { Belfry } from '../../../src/index.ts'
import type { ScheduleInput } from '../../../src/operations/schedule/schedule-input.ts'
import type { UpcomingRun } from '../../../src/operations/schedule/upcoming.ts'
import { drain } from '../../../src/testing/drain.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { type Case, type Deed, type Definition, type Life, life } from './lives.ts'

const shownCount = 5
const dayMs = 86_400_000
/** What was missed in numbers is caught up with in the course of this. */
const catchUpMs = 30_000

interface Started {
  readonly at: number
  readonly source: string
  readonly startedAt: number
}

/** A schedule whose next occurrences were shown, and those that then came. */
interface Told {
  readonly name: string
  readonly about: Case
  readonly did: string[]
  shown: readonly UpcomingRun[]
  /** The instants whose runs were there already when it was asked: what ended a hint may have made them. */
  made: ReadonlySet<number | null>
  came: Started[]
}

/** One process with many schedules, of which each is created, steered and left alone as its case says. */
class World {
  readonly belfry: Belfry
  readonly clock: TestClock
  readonly told = new Map<string, Told>()

  private constructor(belfry: Belfry, clock: TestClock) {
    this.belfry = belfry
    this.clock = clock
  }

  static async open(startAt: number): Promise<World> {
    const clock = new TestClock(startAt)
    const world = new World(await Belfry.open({ store: 'memory:', clock, log: false }), clock)
    world.belfry.handle('h', ({ payload, plannedAt: at, source }) => {
      const told = world.told.get(payload as string)
      if (at !== null && told?.made.has(at) === false) told.came.push({ at, source, startedAt: clock.now() })
    })
    return world
  }

  async create(cases: readonly Case[]): Promise<void> {
    for (const [index, about] of cases.entries()) {
      const name = `s${index}`
      // Each has a queue of its own: catching up is spread over all schedules of a queue, which nobody asks about here.
      await this.belfry.queues.set(name, { maxConcurrent: 1_000 })
      const input = { ...inputOf(about.definition, this.clock.now()), queue: name }
      const isThere = await isTaken(
        this.belfry.schedules.put({ ...input, name, target: { handler: 'h' }, payload: name }),
      )
      if (isThere)
        this.told.set(name, { name, about, did: [JSON.stringify(input)], shown: [], made: new Set(), came: [] })
    }
  }

  /** Does to each schedule what its case says at this point. */
  async steer(round: 0 | 1 | 2): Promise<void> {
    for (const { name, about, did } of this.told.values()) {
      const deed = about.deeds[round]
      const isDone = await isTaken(this.do(name, deed))
      did.push(`${iso(this.clock.now())} ${isDone ? '' : 'refused '}${JSON.stringify(deed)}`)
    }
  }

  async do(name: string, deed: Deed): Promise<unknown> {
    const { schedules } = this.belfry
    const after = (ms: number) => iso(this.clock.now() + ms)
    switch (deed.does) {
      case 'nothing':
        return
      case 'resume':
        return schedules.resume(name)
      case 'clear':
        return schedules.clearHints(name)
      case 'interval':
        return schedules.hint(name, { every: deed.every, ttl: deed.ttl, reason: 'r' })
      case 'oneshot':
        return schedules.hint(name, { at: after(deed.inMs), ttl: deed.ttl, reason: 'r' })
      case 'pause':
        return schedules.pause(name, deed.forMs === null ? {} : { until: after(deed.forMs) })
      case 'edit':
        return schedules.update(name, deed.fields)
    }
  }

  async show(): Promise<void> {
    for (const told of this.told.values()) {
      told.shown = await this.belfry.schedules.next(told.name, { count: shownCount })
      const { runs } = await this.belfry.runs.list({ schedule: told.name, status: 'ready' })
      told.made = new Set(runs.map(({ occurrenceAt }) => occurrenceAt))
      told.came = []
      const { next } = await this.belfry.schedules.explain(told.name)
      expect(next, `explained of ${told.did.join('\n')}`).toEqual(told.shown[0] ?? null)
    }
  }

  /** Lets time pass until all that was shown has come, and a day more for what was not shown. */
  async live(): Promise<void> {
    const { belfry, clock } = this
    const going = new Map(this.told)
    const last = Math.max(clock.now(), ...[...going.values()].flatMap(({ shown }) => shown.map(({ dueAt }) => dueAt)))
    for (await belfry.drain(); clock.now() < last + dayMs; await belfry.drain()) {
      for (const { name, came } of going.values()) {
        // A catch-up does not start in the order of its instants, so the others of it are waited for.
        if (came.length < shownCount || clock.now() - (came[0]?.startedAt ?? 0) < catchUpMs) continue
        going.delete(name)
        await belfry.schedules.delete(name)
      }
      const next = await belfry.nextInstant()
      if (next === null) return
      clock.advance(Math.max(1, next - clock.now()))
    }
  }
}

function inputOf({ fields, atMs, startMs, endMs }: Definition, now: number): Partial<ScheduleInput> {
  return {
    ...fields,
    ...(atMs !== undefined && { at: iso(now + atMs) }),
    ...(startMs !== undefined && { startAt: iso(now + startMs) }),
    ...(endMs !== undefined && { endAt: iso(now + endMs) }),
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

async function isTaken(doing: Promise<unknown>): Promise<boolean> {
  try {
    await doing
    return true
  } catch (error) {
    if (error instanceof BelfryError && error.code === 'invalid') return false
    throw error
  }
}

/** Leads many schedules through a life, and tells of each whose next occurrences were not those that came. */
async function lived(
  { startAt, servedMs, aloneMs, cases }: Life,
  see: (told: Told) => void = () => undefined,
): Promise<{ count: number; differ: string[] }> {
  const world = await World.open(startAt)
  const { belfry, clock, told } = world
  try {
    await belfry.start()
    await world.create(cases)
    for (const round of [0, 1] as const) {
      await drain(belfry, { clock, for: `${servedMs[round]}ms` })
      await world.steer(round)
    }
    // Runs that an edit or a resumption made are not to be live any more when somebody asks.
    await drain(belfry, { clock, for: `${catchUpMs + 1}ms` })
    await belfry.stop()
    clock.advance(aloneMs)
    await world.steer(2)
    await world.show()
    for (const one of told.values()) see(one)
    const askedAt = clock.now()
    await belfry.start()
    await world.live()
    const differ = [...told.values()].flatMap((one) => {
      const difference = differenceOf(one, askedAt)
      return difference === null ? [] : [difference]
    })
    return { count: told.size, differ }
  } finally {
    await belfry.stop()
    await belfry.close()
  }
}

/** Each that was shown came, by its own instant, for its own reason and when it was due; and nothing came between. */
function differenceOf({ about, shown, came, did }: Told, askedAt: number): string | null {
  const actual = came.toSorted((a, b) => a.at - b.at).slice(0, shownCount)
  // What is caught up with takes its time, and what comes meanwhile stands behind it.
  const caughtUpAt = about.definition.fields.missed === 'all' ? askedAt + catchUpMs : askedAt
  const isSame =
    shown.length === actual.length &&
    shown.every((run, index) => {
      const { at, source, startedAt = 0 } = actual[index] ?? {}
      const isInTime = startedAt >= Math.max(askedAt, run.dueAt) && startedAt <= Math.max(caughtUpAt, run.dueAt)
      return at === run.at && source === run.source && isInTime
    })
  if (isSame) return null
  const said = shown.map(({ at, dueAt, source }) => `${iso(at)} due ${iso(dueAt)} ${source}`)
  const done = actual.map(({ at, startedAt, source }) => `${iso(at)} started ${iso(startedAt)} ${source}`)
  return [...did, `asked at ${iso(askedAt)}`, 'shown:', ...said, 'came:', ...done, ''].join('\n')
}

const seed = Number(process.env.BELFRY_SEED ?? 1)
const livesCount = Number(process.env.BELFRY_LIVES ?? 7)

it('what is shown as next is what the engine then does, overdue, paused, hinted, bounded or edited as it may be', async () => {
  let count = 0
  for (const one of fc.sample(life(40), { seed, numRuns: livesCount })) {
    const { count: taken, differ } = await lived(one)
    count += taken
    expect(differ.join('\n')).toBe('')
  }
  // Definitions that are refused tell nothing, and there must not be many.
  expect(count).toBeGreaterThan(livesCount * 30)
})

describe('while a catch-up lasts, what is shown is what the engine does:', () => {
  const nothing: Deed = { does: 'nothing' }
  const all = { missed: 'all' } as const
  const fast = { every: '5s', from: 'start', ...all } as const
  const hints: Deed[] = [
    { does: 'interval', every: '5m', ttl: '4h' },
    { does: 'oneshot', inMs: 10_000, ttl: '3h' },
  ]
  const fields: Partial<ScheduleInput>[] = [
    { cron: '*/10 * * * *', zone: 'UTC', ...all },
    { cron: '*/10 * * * *', zone: 'UTC', ...all, overlap: 'allow' },
    { ...fast, maxLateness: '1m' },
    { ...fast, overlap: 'allow', maxLateness: '16s' },
    { ...fast, queueMax: 1 },
    { ...fast, queueMax: 2 },
    { ...fast, queueMax: 3, maxLateness: '1m' },
    { every: '1h', from: 'start', max: '10m', ...all },
  ]
  const cases = fields.flatMap((own) =>
    [nothing, ...hints].map((last): Case => ({ definition: { fields: own }, deeds: [nothing, nothing, last] })),
  )

  it.each([47_001, 3_000_000])('after %i ms without a worker', async (aloneMs) => {
    const { count, differ } = await lived({ startAt: Date.UTC(2026, 5, 1), servedMs: [1_000, 1_000], aloneMs, cases })
    expect(differ.join('\n')).toBe('')
    expect(count).toBe(cases.length)
  })
})

it('of two that are overdue the second is not shown where the first will still be live', async () => {
  const deeds: Case['deeds'] = [
    { does: 'nothing' },
    { does: 'oneshot', inMs: 120 * 60_000, ttl: '3h' },
    { does: 'oneshot', inMs: 17_000, ttl: '3h' },
  ]
  const cases = (['skip', 'queue'] as const).map((overlap): Case => {
    return { definition: { fields: { overlap }, atMs: 600 * 60_000 }, deeds }
  })
  const shownCounts: number[] = []
  const startAt = Date.UTC(2026, 5, 1)
  const { differ } = await lived({ startAt, servedMs: [1_000, 1_000], aloneMs: dayMs, cases }, ({ shown }) => {
    shownCounts.push(shown.length)
  })
  expect(differ.join('\n')).toBe('')
  // The hint that was set last comes after them, and is used up by neither.
  expect(shownCounts).toEqual([2, 3])
})
