import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { Belfry, type EngineEvents, type HandlerRun, type Kept, type RunResult } from '../../src/index.ts'

async function open(): Promise<Belfry> {
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  onTestFinished(() => belfry.close())
  return belfry
}

describe("a handler's types flow from its registration", () => {
  it('to what is enqueued and to what comes of it', async () => {
    const belfry = await open()
    const report = belfry.handle('report', async (run: HandlerRun<{ day: string }>) => {
      expectTypeOf(run.payload).toEqualTypeOf<{ day: string }>()
      return { rows: run.payload.day.length, at: new Date(0) }
    })
    await belfry.schedules.put({ name: 'report', every: '1h', target: report.target })
    // @ts-expect-error The day is a text.
    await report.enqueue({ day: 1 })
    // @ts-expect-error There is a day.
    await report.enqueue({})
    // @ts-expect-error A bare number is no duration.
    await expect(report.enqueue({ day: 'x' }, { timeout: 5 })).rejects.toThrow('timeout')
    const { id } = await report.enqueue({ day: 'monday' })
    await belfry.start()
    const { result } = await report.wait(id)
    expectTypeOf(result).toEqualTypeOf<RunResult<{ rows: number; at: Date }> | null>()
    if (result === null || result.truncated) return expect.unreachable('It was kept whole.')
    expectTypeOf(result.value).toEqualTypeOf<{ rows: number; at: string }>()
    expect(result.value).toEqual({ rows: 6, at: '1970-01-01T00:00:00.000Z' })
  })

  it('as nothing where nothing was said, so that nobody relies on what may not be there', async () => {
    const belfry = await open()
    const plain = belfry.handle('plain', (run) => {
      expectTypeOf(run.payload).toBeUnknown()
      return 'text'
    })
    expectTypeOf(plain.enqueue).parameter(0).toBeUnknown()
    expectTypeOf<Awaited<ReturnType<typeof plain.wait>>['result']>().toEqualTypeOf<RunResult<string> | null>()
  })

  it('and results are typed as JSON keeps them', () => {
    expectTypeOf<Kept<{ a: Date; b: [1, { c: Date }]; d?: string; e: () => void }>>().toEqualTypeOf<{
      a: string
      b: [1, { c: string }]
      d?: string
      e: never
    }>()
    expectTypeOf<Kept<string | null>>().toEqualTypeOf<string | null>()
  })
})

it('events, inputs and answers have types of their own', async () => {
  const belfry = await open()
  belfry.on('run.failed', (event) => expectTypeOf(event).toEqualTypeOf<EngineEvents['run.failed']>())
  // @ts-expect-error There is no such event.
  expect(() => belfry.on('run.fialed', () => undefined)).toThrow('run.failed')
  // @ts-expect-error There is no such option.
  await expect(Belfry.open({ stroe: 'memory:' })).rejects.toThrow('stroe')
  // @ts-expect-error A bare number is no duration.
  await expect(belfry.schedules.put({ name: 'a', every: 10 })).rejects.toThrow('every')
  const { id, created } = await belfry.runs
    .enqueue({ at: undefined } as never)
    .catch(() => belfry.runs.enqueue({ target: null }))
  expectTypeOf(id).toBeString()
  expectTypeOf(created).toBeBoolean()
  const { schedule } = await belfry.schedules.put({ name: 'a', cron: '@daily', startAt: new Date() })
  expectTypeOf(schedule.everyMs).toEqualTypeOf<number | undefined>()
  expectTypeOf(schedule.nextRunAt).toEqualTypeOf<number | null>()
})
