import { describe, expect, it } from 'vitest'
import { atDesk, problemsIn, startAt, verbsAt } from '../desk.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const daily = { name: 'report', cron: '0 9 * * *', target: { handler: 'report' } }
const dayMs = 86_400_000

describe('another kind of timing', () => {
  it('takes away what belongs to the old kind alone, and refuses it where the change gives it', async () => {
    const { schedule } = await schedules.create({
      name: 'ping',
      every: '10s',
      startNow: true,
      startAt: '2026-02-01T00:00Z',
      target: { handler: 'ping' },
    })
    expect(schedule).toMatchObject({ startNow: true })
    const changed = await schedules.update('ping', { cron: '0 9 * * *' })
    expect(changed.schedule).toMatchObject({ cron: '0 9 * * *', startAt: Date.UTC(2026, 1, 1) })
    expect(changed.schedule).not.toHaveProperty('startNow')
    await expect(schedules.update('ping', { cron: '0 8 * * *', startNow: true })).rejects.toThrow('startNow')
  })
})

describe('whoever writes a schedule is shown', () => {
  it('what was resolved, in words and with its next five instants', async () => {
    const { inWords, next } = await schedules.create(daily)
    expect(inWords).toBe('At 09:00, every day (Europe/Paris). Handler report.')
    const first = Date.UTC(2026, 0, 6, 8)
    expect(next.map(({ at, zone }) => ({ at, zone }))).toEqual(
      [0, 1, 2, 3, 4].map((days) => ({ at: first + days * dayMs, zone: 'Europe/Paris' })),
    )
  })

  it.each([
    ['of a cron', { cron: '*/10 * * * *' }],
    ['of a fixed delay that begins at once', { every: '1m', startNow: true }],
    ['of a fixed rate', { every: '7m', from: 'start' as const }],
    ['of a single instant', { at: '2026-01-05T10:00Z' }],
    ['of a schedule that ends', { every: '1h', maxRuns: 2 }],
    ['of none', {}],
  ])('the same instants that schedule next tells: %s', async (_, timing) => {
    const rest = { name: 'report', target: { handler: 'report' } }
    const created = await schedules.put({ ...rest, ...timing })
    expect(created.next).toEqual(await schedules.next('report', { count: 5 }))
    const again = await schedules.put({ ...rest, ...timing })
    expect(again).toMatchObject({ answer: 'unchanged', next: created.next, inWords: created.inWords, was: {} })
  })

  it('the instants of the new timing after an edit, and none while it is paused without end', async () => {
    await schedules.put(daily)
    const { next } = await schedules.update('report', { cron: '0 11 * * *' })
    expect(next[0]?.at).toBe(startAt + 3_600_000)
    await schedules.pause('report')
    expect((await schedules.update('report', { priority: 5 })).next).toEqual([])
  })

  it('what the changed fields said before, and nothing of those that are new', async () => {
    const created = await schedules.put({ ...daily, timeout: '1m', tags: ['a'] })
    expect(created.was).toEqual({})
    const { changed, was, schedule } = await schedules.put({ ...daily, cron: '0 10 * * *', timeout: '2m', priority: 5 })
    expect([...changed].sort()).toEqual(['cron', 'priority', 'tags', 'timeoutMs'])
    expect(was).toEqual({ cron: '0 9 * * *', timeoutMs: 60_000, tags: ['a'] })
    expect(schedule).toMatchObject({ cron: '0 10 * * *', timeoutMs: 120_000, priority: 5 })
  })

  it('what it said before, also when somebody else wrote between the look and the write', async () => {
    const { context } = desk()
    await schedules.put(daily)
    const { store } = context
    let isFirst = true
    const look: typeof store.look = async (read, ...args) => {
      const found = await store.look(read, ...args)
      if (isFirst && read.name === 'scheduleNow') {
        isFirst = false
        await schedules.update('report', { description: 'theirs' })
      }
      return found
    }
    const slow = new Proxy(store, {
      get: (target, name) => {
        if (name === 'look') return look
        if (name === 'audited') return () => slow
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const mine = verbsAt(() => ({ ...context, store: slow })).schedules
    const { changed, was } = await mine.put({ ...daily, priority: 5 })
    expect([...changed].sort()).toEqual(['description', 'priority'])
    expect(was).toEqual({ description: 'theirs' })
  })
})

it('a change of the clocks is marked among the next instants, and nowhere else', async () => {
  desk().clock.set(Date.UTC(2026, 2, 27, 12))
  const { next } = await schedules.put({ ...daily, cron: '30 2 * * *' })
  expect(next.map(({ at, dst }) => [new Date(at).toISOString(), dst?.mark])).toEqual([
    ['2026-03-28T01:30:00.000Z', undefined],
    ['2026-03-29T01:00:00.000Z', 'after-gap'],
    ['2026-03-30T00:30:00.000Z', undefined],
    ['2026-03-31T00:30:00.000Z', undefined],
    ['2026-04-01T00:30:00.000Z', undefined],
  ])
})

/** An object that is one thing to whoever looks at it and another when it is written. */
function dressed(shown: object, written: object): object {
  return Object.defineProperty({ ...shown }, 'toJSON', { value: () => written, enumerable: false })
}

describe('a bad schedule', () => {
  const none = async () => expect(await schedules.list()).toEqual([])

  it('law 10: is refused whole, with all that is wrong', async () => {
    const problems = await problemsIn(schedules.put({ ...daily, cron: '0 0 30 2 *', priority: 1.5, maxRuns: 0 }))
    expect(problems.map(({ field }) => field).sort()).toEqual(['cron', 'maxRuns', 'priority'])
    await expect(schedules.put({ ...daily, cron: '0 0 30 2 *' })).rejects.toThrow(/never happens/)
    await expect(schedules.put({ ...daily, name: 'a\0b' })).rejects.toThrow(/name is "a/)
    await none()
  })

  it.each<[string, object, RegExp]>([
    ['a payload with a hole', { payload: { a: [() => 1] } }, /payload cannot be stored: its \.a\[0\] is a function/],
    ['a payload of another class', { payload: new Map([[1, 2]]) }, /payload is an instance of Map/],
    ['a tag that is none', { tags: [Number.NaN] }, /tags\[0\] is NaN/],
    ['a target that is a program', { target: { command: () => 1 } }, /target\.command .*function/],
    ['a handler that is no key', { target: { handler: 'a\0' } }, /target.* NUL/],
    ['a target that says another', { target: { handler: 'a', toJSON: () => ({}) } }, /target\.toJSON is not known/],
    ['a payload that says another', { payload: dressed({ a: 1 }, { a: 2 }) }, /payload has a toJSON method/],
    ['a payload that is too large', { payload: 'x'.repeat(300_000) }, /payload has 300002 bytes/],
    ['options that are too large', { expect: { textIncludes: 'x'.repeat(300_000) } }, /options has \d+ bytes/],
    [
      'an at that is over',
      { cron: undefined, at: '2020-01-01T00:00Z' },
      /at is 2020-01-01T00:00:00.000Z, which is in the past/,
    ],
  ])('with %s is refused, because it would not be stored as it is judged', async (_, fields, message) => {
    await expect(schedules.put({ ...daily, ...fields })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
    await none()
  })
})
