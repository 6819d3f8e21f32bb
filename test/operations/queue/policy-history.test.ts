import { expect, it } from 'vitest'
import { atDesk, errorOf, startAt, verbsAt } from '../desk.ts'

const desk = atDesk()
const { queues } = verbsAt(() => desk().context)

it('a policy keeps its versions, with who wrote each, and tells what differs between two', async () => {
  await queues.set('mail', { maxConcurrent: 2 })
  desk().clock.advance(1_000)
  await queues.set('mail', { maxConcurrentPerKey: 1, retention: { completed: '1h' } })
  await queues.set('mail', { maxConcurrentPerKey: null, maxConcurrent: 9 })
  const versions = await queues.versions('mail')
  expect(versions.map(({ version, at, actor, policy }) => [version, at, actor, policy?.maxConcurrent])).toEqual([
    [3, startAt + 1_000, 'tester', 9],
    [2, startAt + 1_000, 'tester', 2],
    [1, startAt, 'tester', 2],
  ])
  expect(await queues.diff('mail')).toEqual({
    from: 2,
    to: 3,
    changes: [
      { field: 'maxConcurrent', before: 2, after: 9 },
      { field: 'maxConcurrentPerKey', before: 1 },
    ],
  })
  const { changes } = await queues.diff('mail', { from: 1, to: 2 })
  expect(changes).toEqual([
    { field: 'maxConcurrentPerKey', after: 1 },
    { field: 'retention.completedMs', before: 604_800_000, after: 3_600_000 },
  ])
  const { from, changes: whole } = await queues.diff('mail', { to: 1 })
  expect(from).toBe(0)
  expect(whole).toContainEqual({ field: 'maxConcurrent', after: 2 })
})

it('a version that never was, and a queue that nobody made, are refused by name', async () => {
  await queues.set('mail', { maxConcurrent: 2 })
  expect(await errorOf(queues.diff('mail', { to: 7 }))).toMatchObject({ code: 'not-found', details: { newest: 1 } })
  expect((await errorOf(queues.versions('nowhere'))).code).toBe('not-found')
})
