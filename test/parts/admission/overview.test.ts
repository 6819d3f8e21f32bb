import { expect, it } from 'vitest'
import { byExplanation, type Hold } from '../../../src/core/hold.ts'
import { heldWork } from '../../../src/parts/admission/overview/held-work.ts'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { turnHolds } from '../../../src/store/holds/turn-holds.ts'
import type { Lease } from '../../../src/store/port.ts'
import { fireDue } from '../../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { actor, onEachDatabase, startAt } from '../../store/scene.ts'

const target = { handler: 'h' }

onEachDatabase('what keeps work from starting', (scene) => {
  it('is counted for each hold in force by the runs that wait under it', async () => {
    // Without the parts that know accounts and calendars, because they would refuse names that do not exist.
    scene().context = { ...scene().context, parts: [] }
    await scene().enqueue({ target, options: { account: ['max'] } })
    await scene().sql(
      `insert into belfry.calendar (ns, name, version, hours, created_at, updated_at) values ($1, 'office', 1, $2, 0, 0)`,
      scene().context.ns,
      JSON.stringify({ zone: 'UTC', open: ['mon-sun 00:00-24:00'] }),
    )
    await scene().enqueue({ target, options: { calendar: ['office'] } })
    await scene().enqueue({ target, concurrencyKey: 'k' })
    await scene().enqueue({ target, queue: 'mail' })
    const minutely = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target } as const
    await scene().write((context) => putSchedule(context, minutely, { mode: 'create', actor }))
    const reason = { code: 'hold', firing: 'waits' } as const
    const on = [
      ['namespace', ''],
      ['queue', 'mail'],
      ['kind', 'handler/h'],
      ['calendar', 'office'],
      ['account', 'max'],
      ['schedule', 'minutely'],
      ['key', 'k'],
    ] as const
    for (const [scope, subject] of on)
      await scene().write((context) => putHold(context, { scope, subject, reason, actor }))
    const later = { scope: 'queue', subject: 'mail', from: startAt + 9e6, reason, actor } as const
    await scene().write((context) => putHold(context, later))
    for (let steps = 0; steps < 5; steps++) await scene().write((context) => turnHolds(context, { limit: 100 }))
    scene().clock.now = startAt + 60_000
    await scene().write((context) => fireDue(context, { limit: 10 }))
    const held = await scene().read((context) => heldWork(context))
    expect(Object.fromEntries(held.map(({ hold, waiting }) => [hold.scope, waiting]))).toEqual({
      namespace: 3,
      queue: 1,
      kind: 3,
      calendar: 1,
      account: 1,
      schedule: 1,
      key: 1,
    })
  })
})

it('is explained in a fixed order: a person first, then the calendar, the account, the quota, and last the budget', () => {
  const codes = ['budget', 'quota', 'namespace-full', 'account-blocked', 'calendar', 'hold', 'stopped']
  const holds = codes.map((reason) => ({ reason, scope: 'namespace', until: null }) as Hold)
  expect(holds.toSorted(byExplanation).map(({ reason }) => reason)).toEqual(codes.toReversed())
})

const desk = atDesk()

it('is told with the command that lifts it', async () => {
  const { holds, admission, queues } = verbsAt(() => desk().context)
  expect(await admission.list({})).toEqual([])
  await queues.set('mail', { maxConcurrent: 1 })
  const { id } = await holds.put({ on: 'queue:mail', reason: 'It is moved.', for: '2h' })
  await holds.stop({ reason: 'Incident 4711' })
  expect(await admission.list({})).toMatchObject([
    { reason: 'stopped', on: 'namespace', lift: 'belfry go', until: null, waiting: 0, waitingIsAtLeast: false },
    { reason: 'hold', on: 'queue:mail', lift: `belfry hold lift ${id}` },
  ])
})

it('names the worker that a file stops and the spent budget of a tag, which put no hold', async () => {
  const { admission, budgets, runs, store } = verbsAt(() => desk().context)
  const worker = { name: 'night', host: 'box', can: { kinds: [] }, beatMs: 60_000, halted: '/srv/.belfry/STOP: Move' }
  await desk().store.do(registerWorker, worker)
  await budgets.put('b', { for: 'tag=big', per: 'day', zone: 'UTC', runs: 1 })
  await runs.enqueue({ target, tags: ['big'] })
  const [{ runId, fence, scheduleId }] = (await desk().lease()) as [Lease]
  await desk().store.settle([
    { runId, fence, scheduleId, outcome: { kind: 'success' }, usage: { tokensIn: 1 }, isWatched: true },
  ])
  const lift = 'Remove the file that stops the workers: `rm /srv/.belfry/STOP`.'
  expect(await admission.list({})).toMatchObject([
    { reason: 'stopped', on: 'worker:night', by: 'box', hold: null, lift },
    { reason: 'budget', on: 'tag:big', by: 'budget b', lift: 'belfry budget topup b', waiting: null },
  ])
  const { checks } = await store.doctor({})
  expect(checks.find(({ check }) => check === 'workers')).toMatchObject({
    state: 'note',
    findings: [
      {
        says: 'Worker night on box starts nothing: it is stopped by /srv/.belfry/STOP: Move.',
        next: `On box: ${lift}`,
      },
    ],
  })
})
