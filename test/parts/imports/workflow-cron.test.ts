import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'
import { cronOf } from '../../../src/parts/imports/workflow-cron.ts'

/** As that program matches an instant, field by field. */
function comesThere(expression: string, at: number): boolean {
  const date = new Date(at)
  const values = [date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay()]
  return expression.split(' ').every((field, index) => {
    const value = values[index] as number
    if (field === '*') return true
    const step = /^\*\/(\d+)$/.exec(field)?.[1]
    if (step !== undefined) return Number(step) > 0 && value % Number(step) === 0
    return field.split(',').some((item) => /^\d+$/.test(item) && Number(item) === value)
  })
}

const field = (max: number) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    fc.integer({ min: 0, max: max + 5 }).map((step) => `*/${step}`),
    fc.array(fc.integer({ min: 0, max: max + 2 }), { minLength: 1, maxLength: 3 }).map((list) => list.join(',')),
  )

it('a calendar that is taken over comes at the same instants as it did there', () => {
  const expression = fc.tuple(field(59), field(23), field(31), field(12), field(6)).map((fields) => fields.join(' '))
  const from = Date.UTC(2026, 0, 1)
  fc.assert(
    fc.property(expression, fc.integer({ min: 0, max: 700 }), (text, day) => {
      const read = cronOf(text)
      if ('why' in read) return
      const ours = cron(read.cron, 'UTC')
      const start = from + day * 86_400_000
      const there: number[] = []
      for (let at = start; at < start + 86_400_000; at += 60_000) if (comesThere(text, at)) there.push(at)
      const here: number[] = []
      for (let at = ours.next(start - 1); at !== null && at < start + 86_400_000; at = ours.next(at)) here.push(at)
      expect(here, `${text} as ${read.cron}`).toEqual(there)
    }),
    { numRuns: 300 },
  )
})

it.each([
  ['*/15 */2 * * *', '*/15 */2 * * *'],
  ['0 0 */10 * *', '0 0 10,20,30 * *'],
  ['0 0 * */3 *', '0 0 * 3,6,9,12 *'],
  ['0 0 * * */1', '0 0 * * *'],
  ['0 0 * * 0,7', '0 0 * * 0'],
])('%s is %s', (there, here) => expect(cronOf(there)).toMatchObject({ cron: here }))

it('a value that never came is named', () => {
  expect(cronOf('5,61 * * * *')).toEqual({ cron: '5 * * * *', dead: ['61'] })
})

it.each([
  ['0 9 1 * 1', 'match both the day of the month and the weekday'],
  ['*/0 * * * *', 'no value fits its minute'],
  ['0 9 * * 1-5', 'no value fits its weekday'],
  ['@daily', 'has 1 fields'],
])('%s has no counterpart', (there, why) => {
  expect(cronOf(there)).toEqual({ why: expect.stringContaining(why) })
})
