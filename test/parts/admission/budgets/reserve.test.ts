import { expect, it } from 'vitest'
import type { Usage } from '../../../../src/core/run/usage.ts'
import type { Outcome } from '../../../../src/core/run/verdict.ts'
import type { Terms } from '../../../../src/parts/admission/budgets/budget-row.ts'
import { readFor, workOf } from '../../../../src/parts/admission/budgets/budget-scope.ts'
import { reserveBudgets } from '../../../../src/parts/admission/budgets/reserve-budget.ts'
import { sweepReservations } from '../../../../src/parts/admission/budgets/sweep-budgets.ts'
import {
  deleteBudget,
  listBudgets,
  putBudget,
  topUpBudget,
} from '../../../../src/parts/admission/budgets/write-budget.ts'
import { listHolds } from '../../../../src/store/holds/list-holds.ts'
import { turnHolds } from '../../../../src/store/holds/turn-holds.ts'
import { reclaim } from '../../../../src/store/leases/reclaim.ts'
import { settle } from '../../../../src/store/leases/settle.ts'
import type { Lease } from '../../../../src/store/port.ts'
import { fireDue } from '../../../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../../../src/store/schedules/put-schedule.ts'
import { actor, numberOf, onEachDatabase, startAt } from '../../../store/scene.ts'

const target = { handler: 'h' }
const midnight = Date.UTC(2026, 0, 6)

onEachDatabase('budgets', (scene) => {
  const put = (name: string, of: string, terms: Partial<Terms> & Pick<Terms, 'limits'>) => {
    const whose = readFor(of) as { scope: 'queue'; subject: string }
    const whole = { per: 'day', zone: 'UTC', ...terms } as const
    return scene().write((context) => putBudget(context, { name, ...whose, terms: whole }, { actor }))
  }
  const reserve = (lease: Lease) => {
    const { runId, fence, scheduleId, queue, options } = lease
    const { schedule: _, ...work } = workOf({ queue, schedule: null, target: lease.target, options })
    return scene().write((context) => reserveBudgets(context, { runId, fence, scheduleId, work }))
  }
  const end = (lease: Lease, outcome: Outcome = { kind: 'success' }, usage?: Usage) => {
    const { runId, fence, scheduleId } = lease
    return scene().write((context) => settle(context, [{ runId, fence, scheduleId, outcome, usage, isWatched: true }]))
  }
  const sweep = (now: number) =>
    scene().write((context) => sweepReservations({ context, now, queues: [], rowsLeft: 10 }))
  const budget = async (name: string) => (await scene().read(listBudgets)).find((one) => one.name === name)
  const state = async (name: string) => (await budget(name))?.state
  const holds = () => scene().read(listHolds)
  const leased = async (input: object = {}) => scene().leaseOf(await scene().enqueue({ target, ...input }))

  it('a run reserves before it starts and settles what it used', async () => {
    await put('b', 'queue=default', { limits: { runs: 2, tokens: 100 }, perRun: { tokens: 30 } })
    const lease = await leased()
    expect(await reserve(lease)).toMatchObject({ answer: 'reserved' })
    expect(await budget('b')).toMatchObject({ attempts: 1, state: { reserved: { runs: 1, tokens: 30 } } })
    await end(lease, { kind: 'success' }, { tokensIn: 10, tokensOut: 5, tokensCached: 900 })
    expect(await budget('b')).toMatchObject({
      attempts: 0,
      state: { used: { runs: 1, tokens: 15 }, reserved: { runs: 0, tokens: 0 } },
    })
  })

  it('the reservation that fills a budget holds its runs until the reset, and its end lets them go', async () => {
    await put('b', 'queue=default', { limits: { tokens: 50 }, perRun: { tokens: 30 } })
    const lease = await leased()
    await reserve(lease)
    const [hold] = await holds()
    expect(hold).toMatchObject({
      scope: 'queue',
      subject: 'default',
      reason: 'budget',
      until: midnight,
      firing: 'skips',
    })
    const waiting = await scene().enqueue({ target })
    expect(await scene().lease()).toEqual([])
    await end(lease, { kind: 'success' }, { tokensOut: 5 })
    expect(await holds()).toEqual([])
    expect(await scene().lease()).toMatchObject([{ runId: waiting }])
  })

  it('a spent budget lets nothing start until its reset, whatever a run would use', async () => {
    await put('b', 'queue=default', { limits: { tokens: 50 } })
    const [first, late] = [await leased(), await leased()]
    await reserve(first)
    await end(first, { kind: 'success' }, { tokensIn: 80 })
    expect(await holds()).toMatchObject([{ reason: 'budget', note: 'Budget b is spent: 50 tokens a day.' }])
    expect(await reserve(late)).toMatchObject({ answer: 'short', budget: 'b', resource: 'tokens', until: startAt })
    await scene().enqueue({ target })
    expect(await scene().lease()).toEqual([])
    scene().clock.now = midnight
    const [next] = await scene().lease()
    expect(await reserve(next as Lease)).toMatchObject({ answer: 'reserved' })
    expect(await state('b')).toMatchObject({ from: midnight, used: { tokens: 0 } })
  })

  it('an occurrence under a spent budget ends skipped, with no run', async () => {
    await put('b', 'kind=handler/h', { limits: { runs: 1 } })
    const spec = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target } as const
    await scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
    await reserve(await leased())
    scene().clock.now = startAt + 60_000
    const fired = await scene().write((context) => fireDue(context, { limit: 10 }))
    expect(fired).toMatchObject({ runs: [], skipped: [{ schedule: 'minutely', reason: 'budget' }] })
    scene().clock.now = midnight
    expect((await scene().write((context) => fireDue(context, { limit: 10 }))).runs).toHaveLength(1)
  })

  it('all budgets that fit reserve at once, or none does', async () => {
    await put('wide', 'namespace', { limits: { runs: 10 } })
    await put('narrow', 'tag=big', { limits: { runs: 1 } })
    await put('other', 'queue=mail', { limits: { runs: 1 } })
    const tagged = { options: { tags: ['big'] } }
    const [first, second, plain] = [await leased(tagged), await leased(tagged), await leased()]
    expect(await reserve(first)).toMatchObject({ answer: 'reserved' })
    expect(await reserve(second)).toMatchObject({ answer: 'short', budget: 'narrow', until: startAt + 30_000 })
    expect(await reserve(plain)).toMatchObject({ answer: 'reserved' })
    expect((await state('wide'))?.reserved.runs).toBe(2)
    expect((await state('other'))?.reserved.runs ?? 0).toBe(0)
    expect(await holds()).toEqual([])
    await end(first)
    // Only the reset or a top-up lets it start, and no hold tells of a top-up.
    expect(await reserve(second)).toMatchObject({ answer: 'short', until: startAt + 600_000 })
    await scene().write((context) => topUpBudget(context, 'narrow', { amounts: { runs: 1 }, actor }))
    expect(await reserve(second)).toMatchObject({ answer: 'reserved' })
  })

  it.each([
    ['success', { kind: 'success' }, 30],
    ['failed', { kind: 'failed', reason: 'r' }, 30],
    ['unknown', { kind: 'unknown', reason: 'r' }, 30],
    ['released', { kind: 'released' }, 0],
    ['skipped', { kind: 'skipped', reason: 'when' }, 0],
    ['deferred', { kind: 'deferred', until: startAt + 5_000, reason: 'rate-limited' }, 0],
  ] as const)(
    '%s: money that was not reported counts as what was reserved, where something began',
    async (_, outcome, used) => {
      await put('b', 'queue=default', { limits: { money: 100 }, currency: 'USD', perRun: { money: 30 } })
      const lease = await leased()
      await reserve(lease)
      await end(lease, outcome)
      expect(await state('b')).toMatchObject({
        used: { money: used },
        reserved: { money: 0 },
        unknown: { money: used && 1 },
      })
    },
  )

  it('money of another currency is unknown', async () => {
    await put('b', 'queue=default', { limits: { money: 100 }, currency: 'USD', perRun: { money: 30 } })
    const lease = await leased()
    await reserve(lease)
    await end(lease, { kind: 'success' }, { money: { amount: 5, currency: 'EUR' } })
    expect(await state('b')).toMatchObject({ used: { money: 30 }, unknown: { money: 1 } })
  })

  it('a lost attempt settles its reservation, and the next fence reserves anew', async () => {
    await put('b', 'queue=default', { limits: { runs: 5, tokens: 100 }, perRun: { tokens: 30 } })
    const lease = await leased()
    await reserve(lease)
    scene().clock.now = lease.expiresAt
    await scene().write((context) => reclaim(context, { limit: 10 }))
    expect(await budget('b')).toMatchObject({
      attempts: 0,
      state: { used: { runs: 1, tokens: 30 }, reserved: { tokens: 0 } },
    })
    scene().clock.now += 60_000
    const [again] = await scene().lease()
    expect(again?.fence).toBe(2)
    expect(await reserve(again as Lease)).toMatchObject({ answer: 'reserved' })
    expect(await state('b')).toMatchObject({ used: { tokens: 30 }, reserved: { tokens: 30 } })
  })

  it('a lease that was taken back reserves nothing', async () => {
    await put('b', 'queue=default', { limits: { runs: 5 } })
    const lease = await leased()
    scene().clock.now = lease.expiresAt
    await scene().write((context) => reclaim(context, { limit: 10 }))
    expect(await reserve(lease)).toEqual({ answer: 'lost' })
    expect(await budget('b')).toMatchObject({ attempts: 0 })
  })

  it('a reservation of an older period is settled there', async () => {
    await put('b', 'queue=default', { limits: { runs: 2, tokens: 100 }, perRun: { tokens: 60 } })
    const old = await leased()
    await reserve(old)
    scene().clock.now = midnight
    const fresh = await leased()
    await reserve(fresh)
    await end(old, { kind: 'success' }, { tokensIn: 90 })
    expect(await state('b')).toMatchObject({ from: midnight, used: { tokens: 0 }, reserved: { runs: 1, tokens: 60 } })
    await end(fresh, { kind: 'success' }, { tokensIn: 1 })
    expect(await budget('b')).toMatchObject({
      attempts: 0,
      state: { used: { runs: 1, tokens: 1 }, reserved: { runs: 0 } },
    })
  })

  it('a schedule reserves what 95 of 100 of its last runs used', async () => {
    const spec = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target } as const
    await scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
    await put('b', 'schedule=minutely', { limits: { tokens: 1_000 } })
    for (const [minute, tokensOut] of [10, 40, 20].entries()) {
      scene().clock.now = startAt + (minute + 1) * 60_000
      await scene().write((context) => fireDue(context, { limit: 10 }))
      const [lease] = await scene().lease()
      await reserve(lease as Lease)
      await end(lease as Lease, { kind: 'success' }, { tokensOut })
    }
    scene().clock.now = startAt + 5 * 60_000
    await scene().write((context) => fireDue(context, { limit: 10 }))
    const [lease] = await scene().lease()
    await reserve(lease as Lease)
    expect(await state('b')).toMatchObject({ used: { tokens: 70, runs: 3 }, reserved: { tokens: 40 } })
  })

  const dollar = (amount: number) => ({ money: { amount, currency: 'USD' } })
  const priced = { limits: { money: 100 }, currency: 'USD' }

  it('a burst of runs of unknown cost starts one at a time, so that one surprise at most overspends the budget', async () => {
    await put('b', 'queue=default', priced)
    const [first, ...others] = [await leased(), await leased(), await leased()]
    expect(await reserve(first)).toMatchObject({ answer: 'reserved' })
    for (const lease of others) {
      expect(await reserve(lease)).toMatchObject({ answer: 'blind', budget: 'b', until: startAt + 30_000 })
      const until = startAt + 30_000
      await end(lease, { kind: 'deferred', until, reason: 'budget' })
    }
    expect(await holds()).toEqual([])
    expect(await scene().lease()).toEqual([])
    await end(first, { kind: 'success' }, dollar(40))
    // The end of the first frees the others, which know now what such a run costs.
    const [second, third] = await scene().lease({ limit: 2 })
    expect(await reserve(second as Lease)).toMatchObject({ answer: 'reserved' })
    expect(await state('b')).toMatchObject({ used: { money: 40 }, reserved: { money: 40 } })
    expect(await reserve(third as Lease)).toMatchObject({ answer: 'short', resource: 'money' })
  })

  it('a lost or released run of unknown cost makes room for the next one', async () => {
    await put('b', 'queue=default', priced)
    const [given, lost, next] = [await leased(), await leased(), await leased()]
    await reserve(given)
    await end(given, { kind: 'released' })
    expect(await reserve(lost)).toMatchObject({ answer: 'reserved' })
    expect(await reserve(next)).toMatchObject({ answer: 'blind' })
    await end(lost, { kind: 'lost' })
    expect(await reserve(next)).toMatchObject({ answer: 'reserved' })
    expect((await state('b'))?.blind ?? 0).toBe(0)
  })

  it('runs that never report their cost start side by side after the first, and count as unknown', async () => {
    await put('b', 'queue=default', priced)
    const [first, second, third] = [await leased(), await leased(), await leased()]
    await reserve(first)
    await end(first)
    expect(await reserve(second)).toMatchObject({ answer: 'reserved' })
    expect(await reserve(third)).toMatchObject({ answer: 'reserved' })
    expect(await state('b')).toMatchObject({ used: { money: 0 }, reserved: { money: 0 }, unknown: { money: 1 } })
  })

  it('the estimate of its kind lets the first runs start side by side, and what is known goes before it', async () => {
    await put('b', 'queue=default', priced)
    const with40 = (lease: Lease) => {
      const { schedule: _, ...work } = workOf({ queue: 'default', schedule: null, target, options: {} })
      const { runId, fence, scheduleId } = lease
      const asked = { runId, fence, scheduleId, work, estimate: dollar(40) }
      return scene().write((context) => reserveBudgets(context, asked))
    }
    const [first, second, third, fourth] = [await leased(), await leased(), await leased(), await leased()]
    expect(await with40(first)).toMatchObject({ answer: 'reserved' })
    expect(await with40(second)).toMatchObject({ answer: 'reserved' })
    expect(await with40(third)).toMatchObject({ answer: 'short', resource: 'money' })
    await end(first, { kind: 'success' }, dollar(5))
    await end(second, { kind: 'success' }, dollar(5))
    await with40(fourth)
    expect(await state('b')).toMatchObject({ reserved: { money: 5 } })
    scene().clock.now = midnight
    await with40(await leased())
    expect(await state('b')).toMatchObject({ from: midnight, reserved: { money: 5 } })
  })

  it('a topup, a put and a delete let runs start that a budget for a tag has deferred', async () => {
    const options = { tags: ['big'] }
    const deferred = async () => {
      const lease = await leased({ options })
      expect(await reserve(lease)).toMatchObject({ answer: 'short' })
      await end(lease, { kind: 'deferred', until: startAt + 600_000, reason: 'budget' })
      expect(await scene().lease()).toEqual([])
    }
    const freed = async () => {
      const [lease] = await scene().lease()
      expect(await reserve(lease as Lease)).toMatchObject({ answer: expect.stringMatching(/reserved|none/) })
    }
    await put('b', 'tag=big', { limits: { runs: 1 } })
    await reserve(await leased({ options }))
    await deferred()
    await scene().write((context) => topUpBudget(context, 'b', { amounts: { runs: 1 }, actor }))
    await freed()
    await deferred()
    await put('b', 'tag=big', { limits: { runs: 2 } })
    await freed()
    await deferred()
    await scene().write((context) => deleteBudget(context, 'b', { actor }))
    await freed()
  })

  it('a spent budget of a schedule sets its runs aside, and a topup returns them', async () => {
    const spec = { name: 'hourly', timing: { cron: '0 * * * *', zone: 'UTC' }, target, overlap: 'allow' } as const
    await scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
    await put('b', 'schedule=hourly', { limits: { runs: 1 } })
    for (const hour of [1, 2]) {
      scene().clock.now = startAt + hour * 3_600_000
      await scene().write((context) => fireDue(context, { limit: 10 }))
    }
    const [first, second] = await scene().lease({ limit: 2 })
    await reserve(first as Lease)
    await end(second as Lease, { kind: 'released' })
    await scene().write((context) => turnHolds(context, { limit: 10 }))
    expect(await scene().lease()).toEqual([])
    await scene().write((context) => topUpBudget(context, 'b', { amounts: { runs: 1 }, actor }))
    await scene().write((context) => turnHolds(context, { limit: 10 }))
    expect(await scene().lease()).toHaveLength(1)
  })

  it('a higher limit, a topup and a delete let go what a budget held', async () => {
    const spend = async () => {
      const lease = await leased()
      await reserve(lease)
      await end(lease)
      expect(await holds()).toHaveLength(1)
    }
    await put('b', 'queue=default', { limits: { runs: 1 } })
    await spend()
    await put('b', 'queue=default', { limits: { runs: 2 } })
    expect(await holds()).toEqual([])
    await spend()
    await scene().write((context) => topUpBudget(context, 'b', { amounts: { runs: 1 }, actor }))
    expect(await holds()).toEqual([])
    await spend()
    await scene().write((context) => deleteBudget(context, 'b', { actor }))
    expect(await holds()).toEqual([])
  })

  it('a lower limit holds at once', async () => {
    await put('b', 'queue=default', { limits: { runs: 9 } })
    const lease = await leased()
    await reserve(lease)
    await put('b', 'queue=default', { limits: { runs: 1 } })
    expect(await holds()).toHaveLength(1)
  })

  it('a hold that a person lifted is put again by the next run that the budget refuses', async () => {
    await put('b', 'queue=default', { limits: { runs: 1 } })
    const [first, late] = [await leased(), await leased()]
    await reserve(first)
    await scene().sql('delete from belfry.hold where ns = $1', scene().context.ns)
    expect(await reserve(late)).toMatchObject({ answer: 'short', until: startAt })
    expect(await holds()).toHaveLength(1)
  })

  it('a budget per run counts all attempts of a run, and forgets them with it', async () => {
    await put('b', 'queue=default', { per: 'run', limits: { tokens: 100, runs: 3 } })
    const first = await leased()
    expect(await reserve(first)).toMatchObject({ answer: 'reserved', caps: [{ by: 'budget b', tokens: 100 }] })
    await end(first, { kind: 'failed', reason: 'r' }, { tokensIn: 60 })
    scene().clock.now = startAt + 60_000
    const [second] = await scene().lease()
    expect(await reserve(second as Lease)).toMatchObject({ caps: [{ tokens: 40 }] })
    await end(second as Lease, { kind: 'failed', reason: 'r' }, { tokensIn: 40 })
    scene().clock.now = startAt + 2 * 60_000
    const [third] = await scene().lease()
    expect(await reserve(third as Lease)).toMatchObject({ answer: 'short', resource: 'tokens', until: null })
    await end(third as Lease, { kind: 'skipped', reason: 'budget' })
    const rows = () =>
      scene().sql('select fence, settled_at from belfry.budget_reservation where ns = $1', scene().context.ns)
    expect(await rows()).toHaveLength(2)
    await sweep(startAt + 91 * 86_400_000)
    expect(await rows()).toEqual([])
  })

  it('what an end left reserved is settled by retention, once no lease stands for it', async () => {
    await put('b', 'queue=default', { limits: { tokens: 100 }, perRun: { tokens: 30 } })
    const [running, over] = [await leased(), await leased()]
    await reserve(running)
    await reserve(over)
    await scene().sql('delete from belfry.lease where run_id = $1', numberOf(over.runId))
    await sweep(startAt + 1_000)
    expect(await budget('b')).toMatchObject({ attempts: 2 })
    await sweep(startAt + 600_000)
    expect(await budget('b')).toMatchObject({ attempts: 1, state: { used: { tokens: 30 }, reserved: { tokens: 30 } } })
  })

  it('usage that comes without a reservation is charged to the budgets that fit', async () => {
    await put('b', 'queue=default', { limits: { tokens: 100 } })
    await put('other', 'queue=mail', { limits: { tokens: 100 } })
    await end(await leased(), { kind: 'success' }, { tokensIn: 120 })
    expect(await state('b')).toMatchObject({ used: { tokens: 120, runs: 1 } })
    expect((await state('other'))?.used.tokens ?? 0).toBe(0)
    expect(await holds()).toHaveLength(1)
  })
})
