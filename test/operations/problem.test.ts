import { expect, it } from 'vitest'
import { refusal } from '../../src/operations/input/refuse-input.ts'
import { atDesk, errorOf, verbsAt } from './desk.ts'

const desk = atDesk()
const { runs, workers } = verbsAt(() => desk().context)
const long = 'x'.repeat(100_000)

it('a refusal tells what is wrong with a long value at its end, and not the value', () => {
  const problem = `names ${long}, which does not exist`
  const { message, details } = refusal('The run', [{ field: long, problem, expected: long }])
  expect(message.length).toBeLessThan(3_000)
  expect(message).toContain(', which does not exist (expected: ')
  expect(JSON.stringify(details).length).toBeLessThan(3_000)
})

it('a refusal of very much tells the first of it, and how much more there is', () => {
  const found = Array.from({ length: 5_000 }, (_, index) => ({ field: `f${index}`, problem: 'is', expected: 'none' }))
  const { problems } = refusal('The run', found).details as { problems: unknown[] }
  expect([problems.length, problems.at(-1)]).toEqual([101, expect.objectContaining({ problem: 'and 4900 more' })])
})

it('a field or a page that nobody knows is not sent back whole', async () => {
  for (const asked of [
    runs.enqueue({ [long]: 1 } as never),
    runs.list({ before: long }),
    workers.list({ after: long }),
  ]) {
    const { code, message, details } = await errorOf(asked as Promise<unknown>)
    expect([code, JSON.stringify([message, details]).length < 4_000]).toEqual(['invalid', true])
  }
})
