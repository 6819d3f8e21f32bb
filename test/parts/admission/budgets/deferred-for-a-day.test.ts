import { expect, it } from 'vitest'
import type { BudgetTerms } from '../../../../src/core/budget/budget.ts'
import { readFor } from '../../../../src/parts/admission/budgets/budget-scope.ts'
import { budgets } from '../../../../src/parts/admission/budgets/part.ts'
import { putBudget } from '../../../../src/parts/admission/budgets/write-budget.ts'
import { listHolds } from '../../../../src/store/holds/list-holds.ts'
import type { Lease } from '../../../../src/store/port.ts'
import { actor, onEachDatabase, startAt } from '../../../store/scene.ts'

const target = { handler: 'h' }
const day = 24 * 3_600_000
const february = Date.UTC(2026, 1, 1)

onEachDatabase('a run that finds too little left a day after its first deferral', (scene) => {
  const put = (of: string, limits: BudgetTerms['limits']) => {
    const whose = readFor(of) as { scope: 'queue'; subject: string }
    const terms = { per: 'month', zone: 'UTC', limits } as const
    return scene().write((context) => putBudget(context, { name: 'b', ...whose, terms }, { actor }))
  }
  const leased = async () => scene().leaseOf(await scene().enqueue({ target, options: { tags: ['big'] } }))
  const reserve = (lease: Lease) =>
    scene().write((context) => budgets.reserves(context, { ...lease, isBudgeted: true }))
  const deferred = async (lease: Lease) => {
    const start = await reserve(lease)
    if (!('defer' in start)) return expect.unreachable(`It was not deferred: ${JSON.stringify(start)}`)
    return scene().end(lease, { kind: 'deferred', ...start.defer })
  }

  it.each([
    ['for a tag, which has no hold', 'tag=big', { runs: 1 }],
    ['that waits for the end of a run to know what one uses', 'queue=default', { tokens: 100 }],
  ] as const)('ends as an exhausted run does under a budget %s', async (_, of, limits) => {
    await put(of, limits)
    const [first, late] = [await leased(), await leased()]
    expect(await reserve(first)).toMatchObject({ go: true })
    expect(await deferred(late)).toMatchObject({ status: 'ready' })
    expect(await scene().read(listHolds)).toEqual([])
    scene().clock.now = startAt + day
    const again = await scene().leaseOf(late.runId)
    expect(await deferred(again)).toMatchObject({ status: 'parked', reason: 'budget (deferred for 24h)' })
  })

  it('waits on, where the hold of the budget kept it', async () => {
    await put('queue=default', { runs: 1 })
    const [first, late] = [await leased(), await leased()]
    expect(await reserve(first)).toMatchObject({ go: true })
    expect(await deferred(late)).toMatchObject({ status: 'ready' })
    expect(await scene().lease()).toEqual([])
    scene().clock.now = february
    const again = await scene().leaseOf(late.runId)
    expect(await reserve(await leased())).toMatchObject({ go: true })
    expect(await deferred(again)).toMatchObject({ status: 'ready' })
  })
})
