import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { atDesk, errorOf, problemsIn, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { routines, schedules, runs } = verbsAt(() => desk().context)
const target = { handler: 'deploy' }
const signing = { style: 'github', secret: { secret: 'HOOK' } } as const

describe('a routine is made', () => {
  it('under no name that no address can hold', async () => {
    for (const name of ['.', '..'])
      expect(await problemsIn(routines.create(name, { run: { target: null } }))).toMatchObject([{ field: 'name' }])
  })

  it('with what it takes and what it does, in the words in which it was written', async () => {
    const run = {
      queue: 'q',
      target,
      payload: [1],
      priority: 3,
      timeout: '1m',
      tags: ['a'],
      repeatable: false,
    } as const
    const input = { description: 'd', type: ['push'], match: { a: { exists: true } }, run, signing }
    const made = await routines.create('a b/c', input)
    expect(made).toMatchObject({
      created: true,
      name: 'a b/c',
      hook: '/hooks/a%20b%2Fc',
      description: 'd',
      type: ['push'],
      match: { a: { exists: true } },
      run: { queue: 'q', target, payload: [1], priority: 3, timeoutMs: 60_000, tags: ['a'], repeatable: false },
      signing,
      enabled: true,
      disabled: null,
      createdBy: 'tester',
    })
    const { created, ...same } = made
    expect(await routines.get('a b/c')).toEqual(same)
    expect(await routines.create('a b/c', input)).toEqual({ ...same, created: false })
    expect(await errorOf(routines.create('a b/c', { run: { target: null } }))).toMatchObject({ code: 'conflict' })
  })

  it('without a hook where nobody says how its webhooks are signed, and disabled where that is wished', async () => {
    await schedules.put('nightly', { every: '1h', target })
    expect(await routines.create('x', { schedule: 'nightly', enabled: false })).toMatchObject({
      schedule: 'nightly',
      hook: null,
      enabled: false,
      disabled: { reason: 'created so by tester' },
    })
    expect(await routines.fire('x')).toMatchObject({ outcome: 'disabled', run: null })
  })

  it('with a relative program as it resolves where it is made', async () => {
    const made = await routines.create('x', { run: { target: { command: ['./deploy.sh'] } } })
    expect(made.run?.target).toMatchObject({ command: ['/srv/app/deploy.sh'] })
  })

  it('of no schedule that is not there, or not any more', async () => {
    await schedules.put('nightly', { every: '1h', target })
    const absent = await errorOf(routines.create('x', { schedule: 'nihgtly' }))
    expect(absent).toMatchObject({ code: 'not-found', hint: 'Did you mean "nightly"?' })
    await schedules.delete('nightly')
    const [gone] = await schedules.list({ deleted: true })
    expect(await errorOf(routines.create('x', { schedule: gone?.id ?? '' }))).toMatchObject({ code: 'not-found' })
  })
})

describe('a routine is refused', () => {
  const fields = async (input: object) =>
    (await problemsIn(routines.create('x', input as never))).map(({ field }) => field)

  it('whole, with everything that is wrong with it', async () => {
    expect(await fields({})).toEqual(['schedule'])
    expect(await fields({ schedule: 'a', run: { target: null } })).toEqual(['run'])
    expect(await fields({ run: 5 })).toEqual(['run'])
    expect(await fields({ run: [] })).toEqual(['run'])
    expect(
      await fields({ run: { prority: 1, target: { handler: 5 }, timeout: '5', expect: { status: 200 } } }),
    ).toEqual(expect.arrayContaining(['run.prority', 'run.target.handler', 'run.timeout', 'run.expect.status']))
    expect(await fields({ run: {}, match: { a: { $gt: 1 } }, type: [], typ: 'x', signing: { style: 'hmac' } })).toEqual(
      expect.arrayContaining(['match["a"]', 'type', 'typ', 'signing.style', 'signing.secret']),
    )
  })

  it.each(['notBefore', 'deadline', 'idempotencyKey', 'traceparent'])(
    'with a %s, which only a single run can have',
    async (field) => {
      expect(await fields({ run: { target: null, [field]: '2099-01-01T00:00Z' } })).toEqual([`run.${field}`])
    },
  )

  it.each([
    { secret: 'whsec_canary' },
    { secret: { secret: 'whsec/canary' } },
    { secret: { secret: 'A', more: 'canary' } },
  ])('where a secret stands in the place of its name, without showing it', async (wrong) => {
    const error = await errorOf(routines.create('x', { run: {}, signing: { style: 'standard', ...wrong } } as never))
    expect(error.code).toBe('invalid')
    expect(JSON.stringify([error.message, error.details])).not.toContain('canary')
  })
})

describe('an event', () => {
  it('is answered with what became of it, and tells where its run waits', async () => {
    await schedules.put('nightly', { every: '1h', target })
    await schedules.pause('nightly')
    await routines.create('x', { schedule: 'nightly', match: { a: 1 } })
    expect(await routines.fire('x', { payload: { a: 2 } })).toMatchObject({
      outcome: 'not-matched',
      run: null,
      reason: 'a is 2, not 1',
    })
    const fired = await routines.fire('x', { payload: { a: 1 }, deliveryId: 'd' })
    expect(fired).toMatchObject({ outcome: 'fired', kept: 'held', reason: null, deliveryId: 'd' })
    expect(await routines.fire('x', { payload: { a: 1 }, deliveryId: 'd' })).toMatchObject({
      outcome: 'duplicate',
      run: fired.run,
      event: fired.event,
    })
    expect(await routines.fire('x', { payload: { a: 1 } })).toMatchObject({ outcome: 'overlap', run: fired.run })
    await schedules.delete('nightly')
    expect(await routines.fire('x', { payload: { a: 1 } })).toMatchObject({ outcome: 'schedule-gone', run: null })
    expect((await routines.events('x')).map(({ outcome, door }) => [outcome, door])).toEqual([
      ['schedule-gone', 'test'],
      ['overlap', 'test'],
      ['fired', 'test'],
      ['not-matched', 'test'],
    ])
  })

  it('makes a run that can say where it comes from', async () => {
    await schedules.put('nightly', { every: '1h', target })
    await routines.create('x', { schedule: 'nightly' })
    await routines.create('y', { run: { target } })
    const ofSchedule = await runs.explain((await routines.fire('x')).run ?? '')
    expect(ofSchedule.planned).toMatchObject({
      source: 'routine',
      sentence: 'A routine fired its schedule for an event; that does not move its occurrences.',
    })
    expect(ofSchedule.timeline[0]).toMatchObject({ what: 'enqueued', detail: 'by a routine' })
    const enqueued = await runs.explain((await routines.fire('y')).run ?? '')
    expect(enqueued.planned).toMatchObject({ source: 'routine', sentence: 'A routine enqueued it for an event.' })
  })

  it('is refused with what is wrong, in the words of whoever sent it', async () => {
    await routines.create('x', { run: { target } })
    expect(await problemsIn(routines.fire('x', { payload: { at: new Date(0) } }))).toMatchObject([
      { field: 'payload.at' },
    ])
    expect(await problemsIn(routines.fire('x', { payload: 'x'.repeat(300_000) }))).toMatchObject([{ field: 'payload' }])
    expect(await problemsIn(routines.fire('x', { deliveryId: '' }))).toMatchObject([{ field: 'deliveryId' }])
    expect(await errorOf(routines.fire('z'))).toMatchObject({ code: 'not-found' })
  })

  it('can be rehearsed: what would become of it is told, and nothing is written', async () => {
    await routines.create('x', { run: { target }, match: { a: 1 } })
    const { context } = desk()
    const rehearsing = verbsAt(() => ({ ...context, store: context.store.rehearsal() })).routines
    expect(await rehearsing.fire('x', { payload: { a: 1 } })).toMatchObject({ outcome: 'fired' })
    expect(await rehearsing.fire('x', { payload: { a: 2 } })).toMatchObject({ outcome: 'not-matched' })
    expect(await routines.events('x')).toEqual([])
    expect((await runs.list()).runs).toEqual([])
    expect(await errorOf(rehearsing.disable('x'))).toBeInstanceOf(BelfryError)
  })
})

describe('a routine that is disabled', () => {
  it('says since when and why, again and again, until it is enabled', async () => {
    await routines.create('x', { run: { target } })
    const at = desk().clock.now()
    expect(await routines.disable('x', { reason: 'Moving.' })).toMatchObject({
      enabled: false,
      disabled: { at, reason: 'Moving.' },
    })
    desk().clock.advance(1_000)
    expect(await routines.disable('x')).toMatchObject({ disabled: { at, reason: 'asked for by tester' } })
    expect(await routines.enable('x')).toMatchObject({ enabled: true, disabled: null })
    expect(await routines.enable('x')).toMatchObject({ enabled: true })
    for (const verb of ['enable', 'disable', 'delete', 'get', 'events'] as const) {
      expect(await errorOf(routines[verb]('nobody'))).toMatchObject({ code: 'not-found' })
    }
  })
})
