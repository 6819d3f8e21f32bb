import { describe, expect, it } from 'vitest'
import { runOperations } from '../../src/operations/run/noun.ts'
import { atDesk, verbsAt } from '../operations/desk.ts'
import { doors, tokenFor } from './all-doors.ts'
import { shown } from './cli/shown.ts'

const desk = atDesk()
const { runs } = verbsAt(() => desk().context)

/** A run that must not be repeated, and that succeeded after somebody wanted it to end. */
async function lateCancel(): Promise<string> {
  const { id } = await runs.enqueue({ target: { handler: 'pay' }, repeatable: false })
  const [lease] = await desk().lease()
  expect(await runs.cancel(id)).toEqual({ answer: 'cancel-requested' })
  await desk().store.settle([{ ...(lease as NonNullable<typeof lease>), outcome: { kind: 'success' } }])
  return id
}

describe('a retry of work that must not be repeated, and was done though its cancel was requested,', () => {
  it.each(['library', 'http', 'mcp', 'cli'] as const)('says so at this door: %s', async (door) => {
    const id = await lateCancel()
    desk().token = await tokenFor(desk())
    const said = await doors[door](desk(), runOperations.retry, { id })
    expect(said).toEqual({ answer: { answer: 'created', id: expect.any(String), alreadyDone: 'late-cancel' } })
  })

  it('tells a person how to take it back', async () => {
    const answer = await runs.retry(await lateCancel())
    const lines = (await shown(runOperations.retry, answer)).split('\n')
    expect(lines).toEqual([
      `created ${answer.id}, a new run of the same work`,
      '  this work is not repeatable and was already done: the run before it completed after its cancel was requested',
      `  do not repeat it: belfry run cancel ${answer.id}`,
    ])
  })
})
