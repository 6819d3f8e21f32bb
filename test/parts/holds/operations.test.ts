import { describe, expect, it } from 'vitest'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { errorOf, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'
import { checkIn, hour, inEachWard, minute, second } from '../../operations/store/ward.ts'
import { listAudit } from '../../store/list-audit.ts'

/** Every scope, with a subject that the run made by `made` has. */
const scopes = [
  ['everything', 'namespace'],
  ['its queue', 'queue:mail'],
  ['its kind', 'kind:handler'],
  ['its kind and name', 'kind:handler/report'],
  ['its schedule', 'schedule:digest'],
  ['its key', 'key:customer-7'],
] as const

/** Those whose runs are set aside one by one, as they are made. */
const narrow = scopes.slice(4)

inEachWard((ward) => {
  const { holds, schedules, runs, queues, sched } = verbsAt(() => ward().context)

  /** A schedule whose runs every scope above is on, and the ways to make one and to lease what may go. */
  async function work() {
    await queues.set('mail', { maxConcurrent: 50 })
    const target = { handler: 'report' }
    await schedules.create({ name: 'digest', target, queue: 'mail', concurrencyKey: 'customer-7', overlap: 'allow' })
    const made = async () => (await schedules.run('digest')).id
    const leased = async () => (await ward().lease('mail')).map(({ runId }) => runId)
    return { made, leased }
  }

  describe.each(scopes)('a hold on %s', (_, on) => {
    it('keeps runs from starting, is named with the command that lifts it, and lets them go when it is lifted', async () => {
      const { made, leased } = await work()
      const before = await made()
      const { id, inForce } = await holds.put({ on, reason: 'The server is moved.' })
      expect(inForce).toBe(true)
      const later = await made()
      expect(await leased()).toEqual([])
      for (const run of [before, later]) {
        expect(await runs.explain(run)).toMatchObject({
          code: 'held-by',
          sentence: `Hold ${id} on ${on}, put by tester, keeps work from starting: The server is moved.`,
          unblock: [{ what: 'Lift the hold.', command: `belfry hold lift ${id}` }],
        })
      }
      const plan = await sched.plan({ queue: 'mail', kinds: ['handler'], handlers: ['report'] })
      expect(plan).toMatchObject({ leases: [], skippedByReason: [{ reason: 'held-by', count: 2 }] })
      for (const skipped of plan.skipped) expect(skipped).toMatchObject({ reason: 'held-by', hold: id })
      expect(await holds.list({})).toMatchObject([
        { id, on, reason: 'hold', note: 'The server is moved.', by: 'tester' },
      ])
      expect(await holds.lift(id)).toMatchObject({ id, on, inForce: false })
      expect(await leased()).toEqual([before, later])
      expect((await errorOf(holds.lift(id))).code).toBe('not-found')
    })

    it('begins and ends at its instants', async () => {
      const { made, leased } = await work()
      const from = startAt + minute
      const held = await holds.put({ on, reason: 'why', from: new Date(from), for: '1h' })
      expect(held).toMatchObject({ from, until: from + hour, inForce: false })
      const free = await made()
      expect(await leased()).toEqual([free])
      ward().clock.set(from)
      const kept = await made()
      expect(await leased()).toEqual([])
      expect(await runs.explain(kept)).toMatchObject({ code: 'held-by', waiting: { until: from + hour } })
      ward().clock.set(from + hour)
      await holds.put({ on: 'key:other', reason: 'Its writer turns the holds that are over.' })
      expect(await leased()).toEqual([kept])
    })
  })

  it.each(narrow)('a run that is made under a hold on %s stands aside, and never in line', async (_, on) => {
    const { made } = await work()
    const { id } = await holds.put({ on, reason: 'why', until: new Date(startAt + hour) })
    const [early, late] = [await made(), await made()]
    const inLine = async () => (await ward().sql('select run_id from belfry.ready')).length
    expect(await inLine()).toBe(0)
    for (const run of [early, late])
      expect(await ward().store.look(findRun, run)).toMatchObject({ fence: 0, end: null })
    await holds.lift(id)
    expect(await inLine()).toBe(2)
  })

  it('pausing a queue is a hold on it, and resuming the queue lifts that hold and no other', async () => {
    const { made, leased } = await work()
    const run = await made()
    await queues.pause('mail', { reason: 'Too many.' })
    const [pause] = await holds.list({})
    expect(pause).toMatchObject({ on: 'queue:mail', reason: 'paused', note: 'Too many.', by: 'tester', until: null })
    const { id } = await holds.put({ on: 'queue:mail', reason: 'The server is moved.' })
    await queues.resume('mail')
    expect(await leased()).toEqual([])
    await queues.pause('mail', { reason: 'Again.' })
    await holds.lift(id)
    const [again] = await holds.list({})
    expect(await runs.explain(run)).toMatchObject({
      sentence: 'Its queue mail is paused: Again.',
      unblock: [{ command: 'belfry queue resume mail' }],
    })
    await holds.lift(again?.id ?? '')
    expect((await queues.get('mail')).paused).toBe(null)
    expect(await leased()).toEqual([run])
  })

  describe('a stop', () => {
    it('keeps everything from starting and firing until go, and the missed rules decide afterwards', async () => {
      const hourly = { cron: '0 * * * *', zone: 'UTC', overlap: 'allow', target: null } as const
      await schedules.create({ name: 'all', ...hourly, missed: 'all' })
      await schedules.create({ name: 'none', ...hourly, missed: 'skip' })
      const { id: run } = await runs.enqueue({ target: null })
      const { hold, atWork, cancelling } = await holds.stop({ reason: 'Incident 4711' })
      expect({ on: hold.on, reason: hold.reason, atWork, cancelling }).toEqual({
        on: 'namespace',
        reason: 'stopped',
        atWork: 0,
        cancelling: 0,
      })
      expect(await sched.lease('builder')).toMatchObject({ leases: [], stopped: 'held-by', hold: hold.id })
      expect(await sched.plan()).toMatchObject({
        leases: [],
        skipped: [{ runId: run, reason: 'held-by', hold: hold.id }],
      })
      expect(await runs.explain(run)).toMatchObject({
        sentence: 'Everything is stopped by tester: Incident 4711.',
        unblock: [{ what: 'Start everything again.', command: 'belfry go' }],
      })
      ward().clock.advance(3 * hour + 2 * minute)
      expect((await ward().store.fireDue({ limit: 10 })).runs).toEqual([])
      expect(await holds.go({})).toMatchObject([{ id: hold.id, inForce: false }])
      expect((await ward().store.fireDue({ limit: 10 })).runs.map(({ schedule }) => schedule)).toEqual([
        'all',
        'all',
        'all',
      ])
      expect((await sched.lease('builder', { limit: 9 })).leases.map(({ runId }) => runId)).toContain(run)
    })

    it('that is there already is refused with who stopped it and when, and go where nothing is stopped too', async () => {
      expect(await errorOf(holds.go({}))).toMatchObject({ code: 'conflict', message: 'Nothing is stopped.' })
      await holds.put({ on: 'namespace', reason: 'A hold on everything is no stop: go does not lift it.' })
      expect((await errorOf(holds.go({}))).code).toBe('conflict')
      await holds.stop({ reason: 'Incident 4711' })
      ward().clock.advance(minute)
      expect(await errorOf(holds.stop({}))).toMatchObject({
        code: 'conflict',
        message: 'Everything is stopped already, by tester since 2026-01-05T09:00:00.000Z: Incident 4711.',
        hint: expect.stringContaining('`belfry go`'),
      })
      await holds.go({})
      expect(await holds.list({})).toMatchObject([{ reason: 'hold' }])
    })

    it('leaves what is at work alone, and with cancel asks all of it to end', async () => {
      const ids = (await runs.enqueueMany(Array.from({ length: 3 }, () => ({ target: null })))).map(({ id }) => id)
      await queues.set('default', { maxConcurrent: 3 })
      const held = await ward().lease()
      const requested = async () =>
        (await Promise.all(ids.map((id) => runs.get(id)))).map(({ lease }) => lease?.cancelReason)
      expect(await holds.stop({ reason: 'Incident 4711' })).toMatchObject({ atWork: 3, cancelling: 0 })
      expect(await requested()).toEqual([null, null, null])
      await holds.go({})
      expect(await holds.stop({ reason: 'Incident 4712', cancel: true })).toMatchObject({ atWork: 3, cancelling: 3 })
      expect(await requested()).toEqual(Array(3).fill('Incident 4712'))
      const ends = held.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } as const }))
      expect((await ward().store.settle(ends)).map(({ answer }) => answer)).toEqual(Array(3).fill('written'))
    })
  })

  it('a hold that is wrong in several ways is refused with all of them, and nothing is written', async () => {
    const wrong = { on: 'kind:handlers', from: '2025-01-01T00:00Z', until: '2025-01-02T00:00Z', forMs: 5, note: 'x' }
    const problems = await problemsIn(holds.put(wrong as never))
    expect(problems.map(({ field }) => field).toSorted()).toEqual(['from', 'note', 'on', 'reason', 'until', 'until'])
    const backwards = { on: 'namespace', reason: 'why', from: '2026-02-02T00:00Z', until: '2026-02-01T00:00Z' }
    expect(await problemsIn(holds.put(backwards))).toMatchObject([
      { field: 'until', expected: 'after 2026-02-02T00:00:00.000Z, where it begins' },
    ])
    const lengths = [0, -1, 1e15].map((forMs) => problemsIn(holds.put({ on: 'namespace', reason: 'why', forMs })))
    for (const found of await Promise.all(lengths)) expect(found).toMatchObject([{ field: 'for' }])
    for (const on of ['queue:nowhere', 'schedule:nowhere']) {
      expect((await errorOf(holds.put({ on, reason: 'why' }))).code).toBe('not-found')
    }
    for (const on of ['queue', 'queue:', 'namespace:default', 'account:claude', 'kind:handler/', 'kind:robot']) {
      expect(await problemsIn(holds.put({ on, reason: 'why' })), on).toMatchObject([{ field: 'on' }])
    }
    expect(await holds.list({})).toEqual([])
  })

  it('the audit says who put, lifted, stopped and started what', async () => {
    const { id } = await holds.put({ on: 'kind:http', reason: 'The proxy is moved.', for: '1h' })
    await holds.lift(id)
    await runs.enqueue({ target: null })
    await ward().lease()
    const { hold } = await holds.stop({ reason: 'Incident 4711', cancel: true })
    await holds.go({})
    const audit = async (subject: string) => {
      const found = await ward().store.look(listAudit, subject)
      return found.toReversed().map(({ verb, actor, door, detail }) => ({ verb, actor, door, ...(detail as object) }))
    }
    const by = { actor: 'tester', door: 'test' }
    const put = { on: 'kind:http', reason: 'hold', note: 'The proxy is moved.', from: startAt, until: startAt + hour }
    expect(await audit(`hold ${id}`)).toEqual([
      { verb: 'hold.put', ...by, ...put },
      { verb: 'hold.lift', ...by, ...put },
    ])
    const stopped = { on: 'namespace', reason: 'stopped', note: 'Incident 4711', from: startAt, until: null }
    expect(await audit(`hold ${hold.id}`)).toEqual([
      { verb: 'hold.stop', ...by, ...stopped },
      { verb: 'hold.go', ...by, ...stopped },
    ])
    expect(await audit('namespace')).toMatchObject([{ verb: 'hold.stop', ...by, reason: 'Incident 4711' }])
  })

  it('doctor notes the holds in force, what they are on and what lifts them, and not those to come', async () => {
    expect(checkIn(await ward().doctor(), 'holds')).toMatchObject({ state: 'ok', findings: [] })
    const { id } = await holds.put({ on: 'key:customer-7', reason: 'Asked for.' })
    await holds.put({ on: 'kind:http', reason: 'Later.', from: new Date(startAt + hour) })
    ward().clock.advance(second)
    expect(checkIn(await ward().doctor(), 'holds')).toMatchObject({
      state: 'note',
      says: '1 hold in force: key:customer-7.',
      findings: [{ subject: 'key customer-7', next: `belfry hold lift ${id}` }],
    })
    await holds.stop({})
    expect(checkIn(await ward().doctor(), 'holds').says).toBe('2 holds in force: key:customer-7, namespace.')
    expect(checkIn(await ward().doctor(), 'holds').findings[1]).toMatchObject({
      subject: 'everything',
      next: 'belfry go',
    })
  })
})
