import { describe, expect, it, onTestFinished } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { promptSpread } from '../../src/core/timing/spread.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { all, both } from '../../src/store/statement.ts'
import { operations } from '../../src/table.ts'
import { Desk, keptTo, verbsAt } from './desk.ts'
import { about, ended, leased, parked, ready, stages, type VerbName } from './stages.ts'

async function open(): Promise<Desk> {
  const desk = await Desk.open()
  onTestFinished(() => desk.store.close())
  return desk
}

const examples = operations.flatMap((operation) =>
  operation.examples.map((example) => [`${operation.noun} ${operation.verb}` as VerbName, example, operation] as const),
)

it.each(examples)(
  'the example of %s works, and is answered as its schema says: %j',
  async (name, example, operation) => {
    const desk = await open()
    const known = await stages[name](desk)
    const answer = await keptTo(operation).call(desk.context, about(known, example))
    // An empty list would say nothing of its items.
    if (Array.isArray(answer)) expect(answer).not.toEqual([])
  },
)

describe('a run is answered as its schema says in every state:', () => {
  async function statesOf(desk: Desk): Promise<string[]> {
    const { runs } = verbsAt(() => desk.context)
    const { runs: lines } = await runs.list({ limit: 1_000 })
    const shown = await Promise.all(lines.map(({ id }) => runs.get(id)))
    return shown.map(({ status, waiting }) => (waiting === undefined ? status : `${status} for ${waiting.for}`))
  }

  it('in line, waiting for an instant, for its key, for another run of its schedule, and held', async () => {
    const desk = await open()
    const { runs, schedules, queues } = verbsAt(() => desk.context)
    await queues.set('default', { maxConcurrentPerKey: 1, maxConcurrent: 1 })
    const target = { handler: 'report' }
    await runs.enqueue({ target, notBefore: '2026-01-06T00:00Z', deadline: '2026-01-07T00:00Z' })
    await runs.enqueueMany([
      { target, concurrencyKey: 'k', priority: 1 },
      { target, concurrencyKey: 'k', priority: 2 },
    ])
    await desk.lease()
    await queues.set('default', { maxConcurrent: 5 })
    await desk.lease()
    await runs.enqueue({ target: null, payload: null, idempotencyKey: 'i', dedupeKey: 'd', expect: { json: { a: 1 } } })
    await schedules.put('often', { every: '1m', overlap: 'cancel', target })
    await schedules.run('often')
    await desk.lease()
    await schedules.run('often')
    await schedules.put('paused', { every: '1m', target })
    await schedules.pause('paused')
    await schedules.run('paused')
    await runs.enqueue({ target })
    const states = await statesOf(desk)
    expect([...new Set(states)].sort()).toEqual(
      ['held', 'leased', 'ready', 'ready for instant', 'ready for key', 'ready for overlap'].sort(),
    )
  })

  it('completed with a result, failed, parked, cancelled, asked to end, and skipped', async () => {
    const desk = await open()
    const { runs, queues } = verbsAt(() => desk.context)
    await queues.set('failing', { onExhausted: 'fail', maxAttempts: 1 })
    await ended(desk)
    const { id = '' } = await ready(desk)
    const [lease] = await desk.lease()
    const named = { runId: id, fence: lease?.fence ?? 0 }
    await desk.store.settle([{ ...named, outcome: { kind: 'success' }, result: { rows: [1, { at: 'x' }] } }])
    await parked(desk)
    await runs.enqueue({ target: null, queue: 'failing' })
    const [failing] = await desk.lease('failing')
    const outcome = { kind: 'failed', reason: 'broken' } as const
    await desk.store.settle([{ runId: failing?.runId ?? '', fence: failing?.fence ?? 0, outcome }])
    await runs.cancel((await ready(desk)).id ?? '')
    const { id: late } = await runs.enqueue({ target: null, deadline: '2026-01-05T09:00:01Z' })
    desk.clock.advance(2_000)
    await desk.lease()
    await runs.cancel((await leased(desk)).id ?? '', { reason: 'enough' })
    expect((await runs.get(late)).end).toMatchObject({ status: 'skipped' })
    expect((await runs.get(id)).result).toEqual({ value: { rows: [1, { at: 'x' }] }, truncated: false })
    const states = await statesOf(desk)
    expect([...new Set(states)].sort()).toEqual(
      ['cancelled', 'completed', 'failed', 'leased', 'parked', 'skipped'].sort(),
    )
  })

  it('an occurrence, with the decision that planned it', async () => {
    const desk = await open()
    const { runs, schedules } = verbsAt(() => desk.context)
    const target = { handler: 'report' }
    await schedules.put('hinted', { cron: '0 * * * *', target, min: '1m' })
    await schedules.hint('hinted', { at: '2026-01-05T09:20Z', reason: 'r' })
    const spread = { name: 'spread', timing: { cron: '*/30 * * * *', zone: 'UTC' }, spread: promptSpread, target }
    await desk.store.do(putSchedule, spread, { mode: 'put', actor: desk.context.actor })
    for (let minutes = 0; minutes < 60; minutes += 20) {
      desk.clock.advance(1_200_000)
      await desk.store.fireDue({ limit: 10 })
    }
    const { runs: lines } = await runs.list()
    const shown = await Promise.all(lines.map(({ id }) => runs.get(id)))
    expect(shown.map(({ source }) => source)).toEqual(expect.arrayContaining(['ai-oneshot', 'baseline-cron']))
    for (const { decision } of shown) expect(decision?.trail.length).toBeGreaterThan(0)
    expect(await schedules.history('hinted')).not.toHaveLength(0)
  })
})

describe('a schedule is answered as its schema says', () => {
  it('with every field that can be written', async () => {
    const { context } = await open()
    const { schedules } = verbsAt(() => context)
    const more = { min: '1s', max: '1h', overlap: 'queue', queueMax: 3, missed: 'all', maxLateness: '1h' } as const
    const written = await schedules.put('all', {
      every: '1m',
      from: 'start',
      startNow: true,
      startAt: '2026-02-01T00:00Z',
      endAt: '2027-02-01T00:00Z',
      maxRuns: 5,
      ...more,
      ...{
        pauseAfterFailures: 3,
        queue: 'q',
        priority: 5,
        concurrencyKey: 'k',
        payload: { a: [1] },
        repeatable: false,
      },
      target: { http: { url: 'https://example.org', headers: { authorization: { secret: 'HOOK' } }, body: { a: 1 } } },
      ...{ expect: { statuses: ['2xx'] }, timeout: '5s', tags: ['a'], description: 'All of it.' },
    })
    expect(Object.keys(written.schedule)).toEqual(expect.arrayContaining([...written.changed]))
    expect(await schedules.put('at', { at: '2026-12-01T00:00Z' })).toMatchObject({ answer: 'created' })
    expect(await schedules.put('none', {})).toMatchObject({ answer: 'created' })
  })

  it('when it is paused, disabled, waiting for a run, over, and deleted', async () => {
    const desk = await open()
    const { schedules } = verbsAt(() => desk.context)
    await schedules.put('waits', { every: '1m', startNow: true, target: { handler: 'report' } })
    await desk.store.fireDue({ limit: 10 })
    await schedules.put('paused', { cron: '* * * * *' })
    await schedules.put('disabled', { cron: '* * * * *' })
    await schedules.put('over', { at: '2026-01-05T09:00:30Z' })
    await schedules.put('gone', { every: '1m' })
    await schedules.pause('paused', { for: '1h' })
    await schedules.pause('disabled')
    desk.clock.advance(61_000)
    await desk.store.fireDue({ limit: 10 })
    await schedules.delete('gone')
    const [gone] = await schedules.list({ deleted: true })
    const shown = [...(await schedules.list({ all: true })), await schedules.get(gone?.id ?? '')]
    expect(shown.find(({ name }) => name === 'waits')?.waitsFor).not.toBeNull()
    expect(shown.find(({ name }) => name === 'paused')).toMatchObject({ paused: { until: expect.any(Number) } })
    expect(shown.find(({ name }) => name === 'disabled')).toMatchObject({ disabled: { at: expect.any(Number) } })
    expect(shown.find(({ name }) => name === 'over')).toMatchObject({ nextRunAt: null })
    expect(shown.find(({ name }) => name === 'gone')).toMatchObject({ deletedAt: expect.any(Number) })
  })
})

/** Every row of every table of a store in memory. */
async function rowsOf({ store }: Desk): Promise<Record<string, unknown>> {
  const look = (text: string) => databaseOf(store).read(() => all(both(text, text)))
  const tables = await look("select name from sqlite_master where type = 'table' order by name")
  const rows = tables.map(async ({ name }) => [name, await look(`select * from ${name}`)] as const)
  return Object.fromEntries(await Promise.all(rows))
}

it.each(examples)(
  'the example of %s on a store that only rehearses is answered as ever, or refused, and leaves nothing behind: %j',
  async (name, example, operation) => {
    const [rehearsing, real] = [await open(), await open()]
    const [known] = [await stages[name](rehearsing), await stages[name](real)]
    const input = about(known, example)
    const [before, untouched] = [await rowsOf(rehearsing), await rowsOf(real)]
    const store = rehearsing.store.rehearsal()
    const rehearsed = await operation.call({ ...rehearsing.context, store }, input).catch((error: unknown) => error)
    expect(await rowsOf(rehearsing)).toEqual(before)
    const answer = await operation.call(real.context, input)
    const mayRefuse = operation.effect !== 'read' && operation.rehearses !== true
    const isRefused = rehearsed instanceof BelfryError && rehearsed.message.includes('cannot be rehearsed')
    if (isRefused) return expect(mayRefuse, rehearsed.message).toBe(true)
    expect(rehearsed).toEqual(answer)
    // Whatever is not rehearsed and answers all the same must have had nothing to write.
    if (mayRefuse) expect(await rowsOf(real)).toEqual(untouched)
  },
)
