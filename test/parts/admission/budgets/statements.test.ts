import { expect, it } from 'vitest'
import { putBudget } from '../../../../src/parts/admission/budgets/write-budget.ts'
import { parts } from '../../../../src/parts.ts'
import { lease } from '../../../../src/store/leases/lease.ts'
import { settleTogether } from '../../../../src/store/leases/settle.ts'
import { enqueue } from '../../../../src/store/runs/enqueue.ts'
import { fireDue } from '../../../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../../../src/store/schedules/put-schedule.ts'
import type { Step } from '../../../../src/store/statement.ts'
import type { StoreContext } from '../../../../src/store/store-context.ts'
import { actor, onEachWay, startAt } from '../../../store/scene.ts'

const target = { handler: 'h' }
const can = { kinds: ['handler'], host: true }

/** The names of the statements that a step sends, beside its answer. */
function* recorded<Result>(step: Step<Result>, names: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value) names.push(turn.value.statement.name)
    turn = step.next(yield turn.value)
  }
  return turn.value
}

onEachWay('statements without budgets', (scene) => {
  /** What the steps of a schedule's run and of enqueued runs send, with these parts. */
  async function sent(those: StoreContext['parts']): Promise<string[]> {
    await scene().begin()
    const names: string[] = []
    const step = <Result>(verb: (context: StoreContext) => Step<Result>) =>
      scene().write((context) => recorded(verb({ ...context, parts: those }), names))
    const spec = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target } as const
    await scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
    await scene().enqueue({ target })
    await step((context) => enqueue(context, [{ target }, { target }]))
    scene().clock.now = startAt + 60_000
    expect((await step((context) => fireDue(context, { limit: 10 }))).runs).toHaveLength(1)
    const claimId = `claim ${scene().context.ns}`
    const request = { queue: 'default', workerId: 'w-11', claimId, can, limit: 10 }
    const { leases } = await step((context) => lease(context, request))
    expect(leases).toHaveLength(4)
    expect(leases[0]).not.toHaveProperty('isBudgeted')
    const outcomes = [
      { kind: 'success' },
      { kind: 'failed', reason: 'r' },
      { kind: 'released' },
      { kind: 'success' },
    ] as const
    for (const [index, { runId, fence, scheduleId }] of leases.entries()) {
      const outcome = outcomes[index] ?? { kind: 'success' }
      await step((context) => settleTogether(context, [{ runId, fence, scheduleId, outcome }]))
    }
    return names
  }

  it('enqueue, fire, lease and settle send what they send without the part', async () => {
    const withBudgets = await sent(parts)
    const others = parts.filter(({ name }) => name !== 'budgets')
    expect(others).toHaveLength(parts.length - 1)
    expect(withBudgets).toEqual(await sent(others))
    expect(withBudgets.some((name) => /budget|quota|usage/.test(name))).toBe(false)
  })

  it('a lease says that its namespace has budgets, from the moment on that one is put', async () => {
    await scene().enqueue({ target })
    const whose = { scope: 'queue', subject: 'default' } as const
    const terms = { per: 'day', zone: 'UTC', limits: { runs: 5 } } as const
    await scene().write((context) => putBudget(context, { name: 'b', ...whose, terms }, { actor }))
    expect(await scene().lease()).toMatchObject([{ isBudgeted: true }])
  })
})
