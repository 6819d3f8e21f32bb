import { describe, expect, it, onTestFinished } from 'vitest'
import { kinds } from '../../../src/kinds.ts'
import { openStore } from '../../../src/open-store.ts'
import { holdOperations } from '../../../src/parts/holds/hold-verbs.ts'
import { nextInstants } from '../../../src/store/reads/next-instants.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { sharedStore } from '../../choices/worker.ts'
import { Desk, errorOf, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'
import { hour, inEachWard, minute, second } from '../../operations/store/ward.ts'

const parts = [
  ['a queue', 'queue:mail'],
  ['a kind', 'kind:handler'],
  ['a kind and name', 'kind:handler/report'],
  ['an account', 'account:claude'],
] as const

inEachWard((ward) => {
  const { accounts, budgets, holds, schedules, runs, queues, sched } = verbsAt(() => ward().context)
  const fired = async () => (await ward().store.fireDue({ limit: 10 })).runs.map(({ schedule }) => schedule)
  const ledgerOf = async (name: string) => {
    const rows = (await schedules.history(name)) as readonly { outcome: string; count: number }[]
    return rows.map(({ outcome, count }) => [outcome, count])
  }

  /** A schedule that every subject above is on, and one that none is. */
  async function twoSchedules(more: object = {}) {
    const hourly = { cron: '0 * * * *', zone: 'UTC', overlap: 'allow', ...more } as const
    await schedules.create({ name: 'ours', ...hourly, target: { handler: 'report' }, queue: 'mail' })
    await schedules.create({ name: 'other', ...hourly, target: { command: ['true'] } })
  }

  /** The field comes with a part; the lane is made of the stored options. */
  async function withAccount() {
    await accounts.put('claude', {})
    const account = '"name":"ours","options":{"account":["claude"]}'
    await ward().sql(`update belfry.schedule set spec = replace(spec, '"name":"ours"', '${account}')`)
  }

  describe.each(parts)('a stop on %s', (_, on) => {
    it('fires and leases nothing of it, leaves the others alone, and the firer sleeps', async () => {
      await twoSchedules()
      await withAccount()
      await holds.stop({ on, reason: 'Incident 4711' })
      ward().clock.advance(hour)
      expect(await fired()).toEqual(['other'])
      const { scheduleAt, now } = await ward().store.look(nextInstants)
      expect(scheduleAt).toBeGreaterThan(now)
      expect(await schedules.explain('ours')).toMatchObject({
        code: 'stopped',
        sentence: `${on} is stopped by tester: Incident 4711.`,
        unblock: [{ what: 'Start it again.', command: `belfry go --on ${on}` }],
        next: { dueAt: startAt + hour },
      })
      expect(await fired()).toEqual([])
    })

    it('ends by go, and what the missed rule leaves out ended for the stop', async () => {
      await twoSchedules()
      await withAccount()
      await holds.stop({ on })
      ward().clock.advance(5 * hour + minute / 2)
      expect(await fired()).toEqual(['other'])
      await holds.go({ on })
      expect(await fired()).toEqual(['ours'])
      expect(await ledgerOf('ours')).toEqual([
        ['fired', 1],
        ['stopped', 4],
      ])
      expect(await ledgerOf('other')).toEqual([
        ['fired', 1],
        ['missed', 4],
      ])
      ward().clock.advance(hour)
      expect((await fired()).toSorted()).toEqual(['other', 'ours'])
      expect(await ward().sql('select id from belfry.stop_span')).toEqual([])
    })

    it('ends by itself after its time, and a worker makes what it kept due again', async () => {
      await twoSchedules()
      await withAccount()
      const { hold } = await holds.stop({ on, for: '90m' })
      expect(hold.until).toBe(startAt + 1.5 * hour)
      ward().clock.advance(hour)
      expect(await fired()).toEqual(['other'])
      ward().clock.advance(hour / 2)
      expect(await fired()).toEqual([])
      await holds.put({ on: 'key:other', reason: 'Its writer turns the holds that are over.' })
      expect(await fired()).toEqual(['ours'])
    })
  })

  it('a stop of everything that is lifted leaves its reason in the ledger, and one without a due schedule leaves nothing', async () => {
    await twoSchedules({ missed: 'skip' })
    await holds.stop({})
    await holds.go({})
    expect(await ward().sql('select id from belfry.stop_span')).toEqual([])
    ward().clock.advance(hour / 2)
    await holds.stop({})
    ward().clock.advance(2 * hour)
    await holds.go({})
    ward().clock.advance(hour / 2 + second)
    expect((await fired()).toSorted()).toEqual(['other', 'ours'])
    expect(await ledgerOf('ours')).toEqual([
      ['fired', 1],
      ['stopped', 2],
    ])
    expect(await ward().sql('select id from belfry.stop_span')).toEqual([])
  })

  it('a schedule under two stops fires when both are lifted', async () => {
    await twoSchedules()
    await holds.stop({ on: 'queue:mail' })
    await holds.stop({ on: 'kind:handler' })
    ward().clock.advance(hour)
    expect(await fired()).toEqual(['other'])
    await holds.go({ on: 'queue:mail' })
    expect(await fired()).toEqual([])
    await holds.go({ on: 'kind:handler' })
    expect(await fired()).toEqual(['ours'])
  })

  it('a stopped schedule that is edited, paused or run by hand behaves as a due one, and stays stopped', async () => {
    await twoSchedules()
    await holds.stop({ on: 'queue:mail' })
    ward().clock.advance(hour)
    expect(await fired()).toEqual(['other'])
    expect(await schedules.get('ours')).toMatchObject({ nextDueAt: startAt + hour, wakeAt: startAt + hour })
    await schedules.update('ours', { description: 'The same work.' })
    expect(await fired()).toEqual([])
    await schedules.pause('ours', { for: '30m', reason: 'lunch' })
    ward().clock.advance(2 * hour)
    expect(await fired()).toEqual(['other'])
    await holds.go({ on: 'queue:mail' })
    expect(await fired()).toEqual(['ours'])
  })

  it('--release asks the holders for the runs of the subject, whose next attempt counts as the first', async () => {
    await queues.set('mail', { maxConcurrent: 9 })
    const mine = { target: { handler: 'report' }, queue: 'mail' }
    await runs.enqueueMany([mine, { ...mine, repeatable: false }, { target: { handler: 'report' } }])
    const [first, second, ...rest] = [...(await ward().lease('mail')), ...(await ward().lease())]
    expect(rest).toHaveLength(1)
    const stopped = await holds.stop({ on: 'queue:mail', release: true, reason: 'Incident 4711' })
    expect(stopped).toMatchObject({ atWork: 2, releasing: 2, cancelling: 0 })
    const leases = [first, second, rest[0]].map((lease) => ({ runId: lease?.runId ?? '', fence: lease?.fence ?? 0 }))
    const renewed = await ward().store.renew(leases, minute)
    expect(renewed.map((one) => one.renewed && one.releaseRequestedAt)).toEqual([startAt, startAt, null])
    expect(renewed.map((one) => one.renewed && one.cancelRequestedAt)).toEqual([null, null, null])
    await ward().store.settle(leases.slice(0, 2).map((name) => ({ ...name, outcome: { kind: 'forced-stop' } })))
    expect(await runs.get(first?.runId ?? '')).toMatchObject({ status: 'ready', attempts: 0 })
    expect(await runs.get(second?.runId ?? '')).toMatchObject({
      status: 'parked',
      attempts: 0,
      parked: { reason: 'effect-unknown' },
    })
    expect(await ward().lease('mail')).toEqual([])
    await holds.go({ on: 'queue:mail' })
    expect(await ward().lease('mail')).toMatchObject([{ runId: first?.runId, fence: 2, attempts: 0 }])
    expect(JSON.stringify(await runs.explain(first?.runId ?? ''))).toContain('stopped by tester: Incident 4711')
  })

  it.each([
    ['kind:handler', ['a', 'b']],
    ['kind:handler/a', ['a']],
    ['account:claude', ['b']],
  ] as const)('--cancel on %s asks for the runs of that subject alone', async (on, names) => {
    await accounts.put('claude', {})
    await queues.set('default', { maxConcurrent: 9 })
    await runs.enqueueMany([{ target: { handler: 'a' } }, { target: null }, { target: { handler: 'b' } }])
    await ward().sql(`update belfry.need set account = 'spare,claude' where name = 'b'`)
    const leases = await ward().lease()
    await holds.stop({ on, cancel: true })
    const renewed = await ward().store.renew(
      leases.map(({ runId, fence }) => ({ runId, fence })),
      minute,
    )
    const cancelled = renewed.flatMap((one) => (one.renewed && one.cancelRequestedAt !== null ? [one.runId] : []))
    expect(leases.filter(({ runId }) => cancelled.includes(runId)).map(({ target }) => target?.handler)).toEqual(names)
  })

  it('needs admin for all namespaces', async () => {
    const operator = { ...ward().context, scope: 'operate' } as const
    const { stop, go } = holdOperations
    expect(await errorOf(stop.call(operator, { everywhere: true }))).toMatchObject({ code: 'not-allowed' })
    expect(await errorOf(go.call(operator, { everywhere: true }))).toMatchObject({ code: 'not-allowed' })
    expect(await stop.call(operator, {})).toMatchObject({ namespaces: ['default'] })
  })

  it('says who stopped a part already and when, and go names what else is stopped', async () => {
    await queues.set('mail', {})
    const { hold } = await holds.stop({ on: 'queue:mail', reason: 'Incident 4711.' })
    ward().clock.advance(second)
    const again = await errorOf(holds.stop({ on: 'queue:mail' }))
    expect(again).toMatchObject({
      code: 'conflict',
      message: `queue:mail is stopped already, by tester since ${new Date(startAt).toISOString()}: Incident 4711.`,
      details: { hold: hold.id, by: 'tester' },
    })
    const nothing = await errorOf(holds.go({}))
    expect(nothing).toMatchObject({ code: 'conflict', message: 'Not everything is stopped, only queue:mail.' })
    expect(nothing.hint).toBe('Let it go on with `belfry go --on queue:mail`.')
    expect(await errorOf(holds.go({ on: 'kind:handler' }))).toMatchObject({ message: 'kind:handler is not stopped.' })
    expect((await sched.plan({ queue: 'mail' })).leases).toEqual([])
  })

  it('refuses what cannot be stopped, every problem at once', async () => {
    const names = kinds.filter(({ closed }) => closed === undefined).map(({ name }) => name)
    const words = 'queue:NAME, kind:KIND, kind:KIND/NAME or account:NAME'
    const refused = async (input: object) => problemsIn(holds.stop(input))
    expect(await refused({ on: 'schedule:x', cancel: true, release: true, for: '0s' })).toMatchObject([
      { field: 'for' },
      { field: 'on', problem: 'is on a schedule', expected: words },
      { field: 'release', problem: 'is given beside `cancel`' },
    ])
    expect(await refused({ on: 'kind:nope' })).toMatchObject([{ expected: `one of ${names.join(', ')}` }])
    for (const on of ['', 'account:', 'account:a,b', 'everything', 'queue', 'namespace:x']) {
      expect(await refused({ on }), on).toMatchObject([{ field: 'on' }])
    }
    expect(await refused({ on: 'queue:mail', everywhere: true })).toMatchObject([{ field: 'everywhere' }])
    expect((await errorOf(holds.stop({ on: 'queue:nope' }))).code).toBe('not-found')
    expect(await holds.list({})).toEqual([])
  })

  it.each([
    ['account:anthropic-mx', 'There is no account "anthropic-mx".', 'Did you mean "anthropic-max"?'],
    ['kind:agent/claud', 'There is no profile "claud".', 'Did you mean "claude"?'],
  ])('a stop on the misspelt %s is refused, because the real one would go on', async (on, message, hint) => {
    await accounts.put('anthropic-max', {})
    expect(await errorOf(holds.stop({ on }))).toMatchObject({ code: 'not-found', message, hint })
    expect(await holds.list({})).toEqual([])
    expect(await holds.stop({ on, everywhere: true })).toMatchObject({ doubt: expect.stringContaining(message) })
  })

  it('a stop on a name of a kind without names is refused, and one on a handler that no worker has says so', async () => {
    expect(await problemsIn(holds.stop({ on: 'kind:command/foo' }))).toMatchObject([{ expected: 'kind:command' }])
    expect(await holds.stop({ on: 'kind:handler/nope' })).toMatchObject({
      doubt: 'No live worker has the handler "nope".',
    })
    await ward().worker({ can: { kinds: [], handlers: ['report'] } })
    expect(await holds.stop({ on: 'kind:handler/report' })).toMatchObject({ doubt: null })
  })

  it.each([
    ['profile=claud', 'There is no profile "claud".', 'Did you mean "claude"?'],
    ['kind=comand', 'There is no kind "comand".', 'Did you mean "command"?'],
    [
      'kind=command/foo',
      'There is no kind "command/foo".',
      'Targets of the kind command have no names: write "command".',
    ],
  ])('a budget for %s is refused, because it would count nothing', async (of, message, hint) => {
    const put = (name: string, to: string) => budgets.put(name, { for: to, per: 'day', runs: 5 })
    expect(await errorOf(put('b', of))).toMatchObject({ code: 'not-found', message, hint })
    for (const known of ['profile=claude', 'kind=agent', 'kind=handler/later']) await put('b', known)
  })
})

it.each(['SQLite', 'PostgreSQL'] as const)(
  '--everywhere stops and starts all namespaces of the store, one that is made later too, and twice is refused (%s)',
  async (kind) => {
    const { store: url, schema } = sharedStore(kind)
    const place = schema === undefined ? {} : { schema }
    const clock = new TestClock(startAt)
    const [here, there] = [
      new Desk(await openStore(url, { ...place, clock }), clock),
      new Desk(await openStore(url, { ...place, clock, namespace: 'tenant' }), clock),
    ]
    onTestFinished(() => Promise.all([here.store.close(), there.store.close()]).then(() => undefined))
    const { holds } = verbsAt(() => here.context)
    const tenant = verbsAt(() => there.context)
    await tenant.runs.enqueue({ target: { handler: 'a' } })
    const [lease] = await there.lease()
    await tenant.schedules.create({ name: 'tick', cron: '0 * * * *', zone: 'UTC', target: { handler: 'a' } })
    await tenant.holds.stop({ on: 'kind:command', reason: 'their own' })
    const stopped = await holds.stop({ everywhere: true, reason: 'Incident', release: true })
    expect(stopped).toMatchObject({ namespaces: ['default', 'tenant'], atWork: 1, releasing: 1 })
    const [renewed] = await there.store.renew([{ runId: lease?.runId ?? '', fence: 1 }], minute)
    expect(renewed).toMatchObject({ releaseRequestedAt: startAt })
    expect((await tenant.holds.list({})).map(({ on }) => on).toSorted()).toEqual(['kind:command', 'namespace'])
    expect(await errorOf(holds.stop({ everywhere: true }))).toMatchObject({ code: 'conflict' })
    expect(await errorOf(tenant.holds.stop({}))).toMatchObject({ code: 'conflict' })
    expect(await holds.go({ everywhere: true })).toHaveLength(2)
    expect((await errorOf(holds.go({ everywhere: true }))).code).toBe('conflict')

    await holds.stop({ on: 'kind:handler', everywhere: true })
    clock.advance(hour)
    expect((await there.store.fireDue({ limit: 10 })).runs).toEqual([])
    const late = new Desk(await openStore(url, { ...place, clock, namespace: 'late' }), clock)
    onTestFinished(() => late.store.close())
    const latest = verbsAt(() => late.context)
    await latest.runs.enqueue({ target: { handler: 'a' } })
    expect(await latest.holds.list({})).toMatchObject([{ on: 'kind:handler', reason: 'stopped', inForce: true }])
    expect(await late.lease()).toEqual([])
    expect(await holds.go({ on: 'kind:handler', everywhere: true })).toHaveLength(3)
    expect(await late.lease()).toHaveLength(1)
    expect((await there.store.fireDue({ limit: 10 })).runs).toHaveLength(1)
    expect((await tenant.holds.list({})).map(({ on }) => on)).toEqual(['kind:command'])
  },
)
