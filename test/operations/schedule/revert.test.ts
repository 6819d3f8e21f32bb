import { expect, it } from 'vitest'
import { atDesk, errorOf, verbsAt } from '../desk.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const target = { handler: 'report' }

it('a schedule says again what it said before, in one step, and its versions tell who, where, why and what changed', async () => {
  await schedules.put('report', { cron: '0 9 * * *', zone: 'Europe/Paris', target })
  await schedules.update('report', { cron: '0 10 * * *', priority: 7, reason: 'Nine is too early.' })
  const back = await schedules.revert('report')
  expect(back).toMatchObject({ answer: 'updated', schedule: { version: 3, cron: '0 9 * * *' } })
  expect([...back.changed].sort()).toEqual(['cron', 'priority'])
  const versions = await schedules.versions('report')
  expect(
    versions.map(({ version, door, actor, reason, changed }) => [version, door, actor, reason, [...changed].sort()]),
  ).toEqual([
    [3, 'test', 'tester', 'revert to version 1', ['cron', 'priority']],
    [2, 'test', 'tester', 'Nine is too early.', ['cron', 'priority']],
    [1, 'test', 'tester', null, ['cron', 'name', 'target', 'zone']],
  ])
  const { content: first } = versions[2] as (typeof versions)[number]
  const { content: again } = versions[0] as (typeof versions)[number]
  expect(again).toEqual(first)
})

it('a revert to what it says already changes nothing, and one to a version that never was is refused', async () => {
  await schedules.put('report', { every: '1h', target })
  expect(await errorOf(schedules.revert('report'))).toMatchObject({
    code: 'not-found',
    message: 'Schedule "report" has only one version.',
  })
  await schedules.update('report', { priority: 7 })
  await schedules.update('report', { priority: null })
  expect(await schedules.revert('report', { to: 1 })).toMatchObject({ answer: 'unchanged' })
  expect(await errorOf(schedules.revert('report', { to: 9 }))).toMatchObject({
    code: 'not-found',
    details: { newest: 3 },
  })
  expect((await errorOf(schedules.revert('report', { ifVersion: 1 }))).code).toBe('conflict')
  expect((await errorOf(schedules.revert('nobody'))).code).toBe('not-found')
})
