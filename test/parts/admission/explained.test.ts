import { expect, it } from 'vitest'
import type { Lease } from '../../../src/store/port.ts'
import { atDesk, startAt, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const verbs = () => verbsAt(() => desk().context)
const minute = 60_000
const minutely = { cron: '* * * * *', zone: 'UTC', target: { handler: 'h' } } as const

async function fire() {
  desk().clock.advance(minute)
  await desk().store.fireDue({ limit: 10 })
}

it('a schedule under a spent budget is not told to be due, and its ledger names the budget', async () => {
  const { budgets, runs, schedules, namespaces } = verbs()
  await schedules.create({ name: 'look', ...minutely })
  await budgets.put('b', { for: 'queue=default', per: 'day', zone: 'UTC', runs: 1 })
  await runs.enqueue({ target: { handler: 'h' } })
  const [{ runId, fence, scheduleId }] = (await desk().lease()) as [Lease]
  const end = { runId, fence, scheduleId, outcome: { kind: 'success' } } as const
  await desk().store.settle([{ ...end, usage: { tokensIn: 1 }, isWatched: true }])
  await fire()
  expect(await schedules.explain('look')).toMatchObject({
    code: 'skips',
    sentence: 'Its next occurrence ends without a run: Budget b is spent: 1 run a day.',
    unblock: expect.arrayContaining([expect.objectContaining({ command: 'belfry budget topup b' })]),
    last: [{ outcome: 'budget', why: 'a budget that counts its runs was spent' }],
  })
  await budgets.delete('b')
  expect(await schedules.explain('look')).toMatchObject({ code: 'due-later' })
  await namespaces.set('default', { runsPerMonth: 1 })
  expect(await schedules.explain('look')).toMatchObject({
    code: 'skips',
    sentence: expect.stringContaining('The namespace has made the 1 runs of its month.'),
  })
})

it('a schedule whose next occurrence is after the reset of a spent budget is due', async () => {
  const { budgets, runs, schedules } = verbs()
  await schedules.create({ name: 'look', every: '2d', target: { handler: 'h' } })
  await budgets.put('b', { for: 'queue=default', per: 'hour', zone: 'UTC', runs: 1 })
  await runs.enqueue({ target: { handler: 'h' } })
  const [{ runId, fence, scheduleId }] = (await desk().lease()) as [Lease]
  const end = { runId, fence, scheduleId, outcome: { kind: 'success' } } as const
  await desk().store.settle([{ ...end, usage: { tokensIn: 1 }, isWatched: true }])
  const { code, notes } = await schedules.explain('look')
  expect(code).toBe('due-later')
  expect(notes).toContain('Budget b is spent: 1 run an hour. Its occurrences end without a run.')
})

it('an occurrence that its guard kept from starting names the guard', async () => {
  const { schedules } = verbs()
  await schedules.create({ name: 'look', ...minutely })
  await fire()
  const [{ runId, fence, scheduleId }] = (await desk().lease()) as [Lease]
  await desk().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'skipped', reason: 'when' } }])
  expect(await schedules.explain('look')).toMatchObject({
    last: [{ outcome: 'skipped', why: 'its run was skipped (when): its guard did not let it start' }],
  })
  expect(desk().clock.now()).toBe(startAt + minute)
})
