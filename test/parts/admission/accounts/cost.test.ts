import { expect, it } from 'vitest'
import { formatId } from '../../../../src/core/id.ts'
import { accounts } from '../../../../src/parts/admission/accounts/part.ts'
import { putAccount } from '../../../../src/parts/admission/accounts/write-account.ts'
import { lease } from '../../../../src/store/leases/lease.ts'
import { settleTogether } from '../../../../src/store/leases/settle.ts'
import type { AttemptEnd, Lease } from '../../../../src/store/port.ts'
import { enqueue } from '../../../../src/store/runs/enqueue.ts'
import { fireDue } from '../../../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../../../src/store/schedules/put-schedule.ts'
import type { Row, Step } from '../../../../src/store/statement.ts'
import type { StoreContext } from '../../../../src/store/store-context.ts'
import { actor, onEachWay } from '../../../store/scene.ts'

/** The same step, with the names of its statements noted as it goes. */
function* watched<Result>(step: Step<Result>, names: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value) names.push(turn.value.statement.name)
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

onEachWay('what accounts cost where none is named', (scene) => {
  /** Enqueues, fires, leases and ends, and answers the statements of all of it. */
  async function statements(isWithout: boolean, name: string): Promise<string[]> {
    const names: string[] = []
    const here = scene()
    const step = <Result>(verb: (context: StoreContext) => Step<Result>) =>
      here.write((whole) => {
        const context = isWithout ? { ...whole, parts: whole.parts.filter((part) => part !== accounts) } : whole
        return watched(verb(context), names)
      })
    const timing = { cron: '* * * * *', zone: 'UTC' }
    const target = { handler: 'h' }
    await step((context) => putSchedule(context, { name, timing, target }, { mode: 'create', actor }))
    for (const priority of [1, 2, 3]) {
      await step((context) => enqueue(context, [{ target, priority, options: { timeoutMs: 1_000 } }]))
    }
    here.clock.now += 60_000
    await step((context) => fireDue(context, { limit: 10 }))
    const request = { queue: 'default', workerId: formatId('worker', 1), can: { kinds: ['handler'] }, limit: 10 }
    const { leases } = await step((context) => lease(context, { ...request, claimId: name }))
    expect(leases).toHaveLength(4)
    const outcomes = [
      { kind: 'success' },
      { kind: 'failed', reason: 'x' },
      { kind: 'released' },
      { kind: 'success' },
    ] as const
    const ends = leases.map(({ runId, fence, scheduleId }: Lease, index): AttemptEnd => {
      return { runId, fence, scheduleId, outcome: outcomes[index] ?? { kind: 'success' } }
    })
    await step((context) => settleTogether(context, ends))
    return names
  }

  it('is not one statement, whether accounts exist or not', async () => {
    const without = await statements(true, 'first')
    expect(without.length).toBeGreaterThan(20)
    for (const exists of [false, true]) {
      await scene().begin()
      if (exists) await scene().write((context) => putAccount(context, 'max', { maxConcurrent: 1 }, { actor }))
      expect(await statements(false, `second ${exists}`)).toEqual(without)
    }
  })
})
