import { expect, it } from 'vitest'
import type { EngineContext } from '../../../../src/engine/engine-context.ts'
import { budgets as part } from '../../../../src/parts/admission/budgets/part.ts'
import { estimateIn } from '../../../../src/parts/agents/profile-estimate.ts'
import { readProfile } from '../../../../src/parts/agents/profile-form.ts'
import type { Lease } from '../../../../src/store/port.ts'
import { atDesk, verbsAt } from '../../../operations/desk.ts'

const desk = atDesk()

it('the estimate of a profile is reserved for a run that is like no run before', async () => {
  const { budgets, runs, queues } = verbsAt(() => desk().context)
  const given = { argv: ['true'], stream: 'text', estimate: { tokens: 40, money: '0.50USD', runtime: '5m' } }
  const { profile, problems } = readProfile('mine', given, { base: undefined, folder: '/' })
  expect(problems).toEqual([])
  const estimate = estimateIn(profile ?? undefined)
  expect(estimate).toEqual({ tokens: 40, money: { amount: 500_000, currency: 'USD' }, runtimeMs: 300_000 })

  await queues.set('default', { maxConcurrent: 9 })
  await budgets.put('b', { for: 'namespace', per: 'day', zone: 'UTC', tokens: 100 })
  const work = { target: { handler: 'h' } }
  await runs.enqueueMany([work, work, work])
  const executors = new Map([['handler', { estimateOf: () => estimate }]])
  const context = { store: desk().store, holdings: new Map(), executors } as unknown as EngineContext
  const begun = []
  for (const lease of await desk().lease()) begun.push(await part.begins(lease as Lease, context))
  expect(begun).toMatchObject([{ go: true }, { go: true }, { defer: { reason: 'budget' } }])
  expect((await budgets.show('b')).tokens).toMatchObject({ reserved: 80, left: 20 })
})

it('a profile whose estimate is no amount is refused', () => {
  const given = { argv: ['true'], stream: 'text', estimate: { money: '40', tokens: 0, runtime: 'long' } }
  const { problems } = readProfile('mine', given, { base: undefined, folder: '/' })
  expect(problems.map(({ field }) => field).sort()).toEqual(['estimate.money', 'estimate.runtime', 'estimate.tokens'])
})
