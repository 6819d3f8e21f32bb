import { expect, it } from 'vitest'
import type { RateLimited } from '../../../../src/core/run/expect.ts'
import type { Utilisation } from '../../../../src/core/run/utilisation.ts'
import type { Outcome } from '../../../../src/core/run/verdict.ts'
import { accountsNow } from '../../../../src/parts/admission/accounts/account-row.ts'
import { repairUse } from '../../../../src/parts/admission/accounts/repair-accounts.ts'
import { reserve } from '../../../../src/parts/admission/accounts/reserve-account.ts'
import {
  type AccountPatch,
  blockByHand,
  deleteAccount,
  putAccount,
  setNamespaceCeiling,
  unblockByHand,
} from '../../../../src/parts/admission/accounts/write-account.ts'
import { settle } from '../../../../src/store/leases/settle.ts'
import type { Lease } from '../../../../src/store/port.ts'
import { listAttempts } from '../../../../src/store/reads/list-attempts.ts'
import { actor, onEachDatabase, startAt } from '../../../store/scene.ts'

const target = { handler: 'h' }
const minute = 60_000
const hour = 60 * minute

interface Ending {
  readonly rateLimited?: RateLimited
  readonly utilisation?: readonly Utilisation[]
}

onEachDatabase('slots of accounts', (scene) => {
  const put = (name: string, bounds: AccountPatch = {}) =>
    scene().write((context) => putAccount(context, name, bounds, { actor }))
  const reserved = (lease: Lease) => {
    const accounts = (lease.options.account ?? []) as readonly string[]
    const { runId, fence, isReserving = false } = lease
    return scene().write((context) => reserve(context, { runId, fence, accounts, isReserving }))
  }
  const end = async ({ runId, fence }: Lease, outcome: Outcome = { kind: 'success' }, told: Ending = {}) =>
    (await scene().write((context) => settle(context, [{ runId, fence, outcome, isWatched: true, ...told }])))[0]
  const limited = (lease: Lease, rateLimited: RateLimited = {}) =>
    end(lease, { kind: 'deferred', until: scene().clock.now, reason: 'rate-limited' }, { rateLimited })
  const holds = async () =>
    (await scene().read(accountsNow)).holds.map(({ subject, reason, until }) => [subject, reason, until]).sort()
  const used = async (name: string) => (await scene().read(accountsNow)).byName.get(name)?.used
  const made = async (count: number, account: readonly string[] = ['max']) => {
    for (let index = 0; index < count; index++) await scene().enqueue({ target, options: { account } })
  }
  /** Leases what can be leased, and reserves for each: those that may start, and those that are deferred. */
  async function begun(limit = 100): Promise<{ going: Lease[]; deferred: Lease[] }> {
    const [going, deferred]: [Lease[], Lease[]] = [[], []]
    for (const lease of await scene().lease({ limit })) {
      const answer = await reserved(lease)
      if (answer.answer === 'reserved') going.push(lease)
      else {
        expect(answer.answer).toBe('refused')
        const { reason, until } = answer as Extract<typeof answer, { answer: 'refused' }>
        await scene().write((context) =>
          settle(context, [{ runId: lease.runId, fence: lease.fence, outcome: { kind: 'deferred', reason, until } }]),
        )
        deferred.push(lease)
      }
    }
    return { going, deferred }
  }

  it('the run that takes the last slot holds the others, one that slipped in is deferred, and an end lets the next go', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 50 } })
    await put('max', { maxConcurrent: 2 })
    await made(5)
    const { going, deferred } = await begun(3)
    expect([going.length, deferred.length, await used('max')]).toEqual([2, 1, 2])
    expect(await holds()).toEqual([['max', 'account-full', null]])
    expect(await scene().lease()).toEqual([])
    expect(await scene().read((context) => listAttempts(context, deferred[0]?.runId ?? ''))).toMatchObject([
      { outcome: 'deferred', reason: 'account-full' },
    ])
    await end(going[0] as Lease)
    expect(await holds()).toEqual([])
    const next = await begun(1)
    expect([next.going.length, await holds()]).toEqual([1, [['max', 'account-full', null]]])
  })

  it('a ceiling counts over all queues', async () => {
    await put('max', { maxConcurrent: 1 })
    await scene().enqueue({ target, queue: 'a', options: { account: ['max'] } })
    await scene().enqueue({ target, queue: 'b', options: { account: ['max'] } })
    const [first] = await scene().lease({ queue: 'a' })
    const [second] = await scene().lease({ queue: 'b' })
    expect(await reserved(first as Lease)).toMatchObject({ answer: 'reserved', account: 'max' })
    expect(await reserved(second as Lease)).toMatchObject({ answer: 'refused', reason: 'account-full' })
  })

  it('a lost lease frees its slot, and nothing is reserved for a lease that is over', async () => {
    await put('max', { maxConcurrent: 1 })
    await made(2)
    const { going } = await begun(1)
    scene().clock.now += hour
    expect((await scene().reclaim()).map(({ runId }) => runId)).toContain(going[0]?.runId)
    expect([await used('max'), await holds()]).toEqual([0, []])
    expect(await reserved(going[0] as Lease)).toEqual({ answer: 'lease-lost' })
    expect(await used('max')).toBe(0)
  })

  it('what an end did not free is freed by the repair, and no slot of an attempt at work', async () => {
    await put('max', { maxConcurrent: 2 })
    await made(3)
    const { going } = await begun(2)
    const [{ runId, fence }] = going as [Lease]
    await scene().write((context) => settle(context, [{ runId, fence, outcome: { kind: 'cancelled' } }]))
    expect([await used('max'), await holds()]).toEqual([2, [['max', 'account-full', null]]])
    expect(await scene().write(repairUse)).toBe(1)
    expect([await used('max'), await holds()]).toEqual([1, []])
    expect(await scene().write(repairUse)).toBe(0)
  })

  it('a limit blocks until its reset: nothing starts before, then one run probes, then 2, 4 and all', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 50 } })
    await put('max', { maxConcurrent: 8 })
    await made(40)
    const before = await begun(3)
    const [first, ...others] = before.going as [Lease, ...Lease[]]
    await limited(first, { resetAt: startAt + 2 * hour, window: 'five_hour' })
    expect(await holds()).toEqual([['max', 'account-blocked', startAt + 2 * hour]])
    const { holds: rows } = await scene().read(accountsNow)
    expect(rows[0]?.note).toBe(`five_hour limit, reported by run ${first.runId}`)
    await end(others[0] as Lease)
    scene().clock.now = startAt + 2 * hour - 1
    expect(await scene().lease()).toEqual([])
    scene().clock.now++
    const starts: number[] = []
    await end(others[1] as Lease)
    for (let round = 0; round < 4; round++) {
      const { going } = await begun()
      starts.push(going.length)
      for (const lease of going) await end(lease)
      scene().clock.now += 2_000
    }
    expect(starts).toEqual([1, 2, 4, 8])
  })

  it('a probe that meets the limit again blocks again, twice as long where no reset is known', async () => {
    await put('max')
    await made(9)
    const { going } = await begun(1)
    await limited(going[0] as Lease)
    for (const minutes of [1, 2, 4, 8]) {
      expect(await holds()).toEqual([['max', 'account-blocked', scene().clock.now + minutes * minute]])
      expect(await scene().lease()).toEqual([])
      scene().clock.now += minutes * minute
      const probes = await begun()
      expect(probes.going).toHaveLength(1)
      await limited(probes.going[0] as Lease)
    }
  })

  it('a probe that fails by itself lets the next one probe', async () => {
    await put('max')
    await made(3)
    const { going } = await begun(1)
    await limited(going[0] as Lease)
    scene().clock.now += minute
    const [probe] = (await begun()).going
    await end(probe as Lease, { kind: 'failed', reason: 'its own fault', retryable: false })
    scene().clock.now += 2_000
    expect((await begun()).going).toHaveLength(1)
  })

  it('an account without a ceiling blocks too, and opens wholly after enough successes', async () => {
    await put('max')
    await made(3)
    const { going } = await begun(2)
    await limited(going[0] as Lease)
    await limited(going[1] as Lease)
    expect((await holds()).map(([, , until]) => until)).toEqual([startAt + minute])
  })

  it('of several accounts the first that is open is used, and all closed hold their lane until the first opens', async () => {
    await put('max', { maxConcurrent: 1 })
    await put('pro')
    await made(4, ['max', 'pro'])
    const answers = []
    const leases = await scene().lease({ limit: 3 })
    for (const lease of leases) answers.push(await reserved(lease))
    expect(answers).toMatchObject([{ account: 'max' }, { account: 'pro' }, { account: 'pro' }])
    const [onMax, onPro, alsoOnPro] = leases as [Lease, Lease, Lease]
    await limited(onPro, { resetAt: startAt + hour })
    expect(await holds()).toEqual([
      ['max', 'account-full', null],
      ['max,pro', 'account-blocked', startAt + hour],
      ['pro', 'account-blocked', startAt + hour],
    ])
    expect(await scene().lease()).toEqual([])
    await end(onMax)
    expect(await holds()).toEqual([['pro', 'account-blocked', startAt + hour]])
    await end(alsoOnPro)
    scene().clock.now += 2_000
    const [next] = await scene().lease({ limit: 1 })
    expect(await reserved(next as Lease)).toMatchObject({ account: 'max' })
  })

  it('a hold by a person on one account sends its runs to the next', async () => {
    await put('max')
    await put('pro')
    await made(1, ['max', 'pro'])
    await scene().write((context) => blockByHand(context, 'max', { reason: 'unpaid', actor }))
    const [lease] = await scene().lease()
    expect(await reserved(lease as Lease)).toMatchObject({ account: 'pro' })
  })

  it('unblocked by hand, one run probes', async () => {
    await put('max', { maxConcurrent: 5 })
    await made(3)
    await scene().write((context) => blockByHand(context, 'max', { reason: 'unpaid', actor }))
    expect(await scene().lease()).toEqual([])
    expect(await scene().write((context) => unblockByHand(context, 'max', { actor }))).toBe('unblocked')
    expect((await begun()).going).toHaveLength(1)
    expect(await scene().write((context) => unblockByHand(context, 'max', { actor }))).toBe('open')
  })

  it('a raised ceiling lets runs start at once, and a lowered one stops none', async () => {
    await put('max', { maxConcurrent: 1 })
    await made(3)
    await begun(1)
    await put('max', { maxConcurrent: 2 })
    expect(await holds()).toEqual([])
    await begun(1)
    await put('max', { maxConcurrent: 1 })
    expect([await used('max'), await holds()]).toEqual([2, [['max', 'account-full', null]]])
    await put('max', { maxConcurrent: null })
    expect(await holds()).toEqual([])
  })

  it('above the share of a limit only important runs start, until the limit opens anew or less of it is used', async () => {
    await put('max', { headroom: { at: 0.8, priority: 50 } })
    const important = await scene().enqueue({ target, priority: 50, options: { account: ['max'] } })
    await made(3)
    const { going } = await begun(1)
    expect(going[0]?.runId).toBe(important)
    const resetAt = startAt + hour
    await end(going[0] as Lease, { kind: 'success' }, { utilisation: [{ window: 'five_hour', share: 0.83, resetAt }] })
    await scene().enqueue({ target, priority: 7, options: { account: ['max'] } })
    const after = await begun()
    expect([after.going.length, after.deferred.length]).toEqual([1, 3])
    expect(await scene().show(after.deferred[0]?.runId ?? '')).toMatchObject({
      waiting: { until: resetAt, reason: 'deferred: headroom' },
    })
    await end(
      after.going[0] as Lease,
      { kind: 'success' },
      { utilisation: [{ window: 'five_hour', share: 0.5, resetAt }] },
    )
    expect((await begun()).going).toHaveLength(3)
  })

  it('a namespace with a ceiling reserves for every run, counts what was at work, and is held while it is full', async () => {
    await scene().enqueue({ target })
    const [early] = await scene().lease()
    await scene().write((context) => setNamespaceCeiling(context, 2))
    for (let index = 0; index < 3; index++) await scene().enqueue({ target, queue: 'other' })
    const leases = await scene().lease({ queue: 'other', limit: 2 })
    expect(leases.map(({ isReserving }) => isReserving)).toEqual([true, true].slice(0, leases.length))
    expect(await reserved(leases[0] as Lease)).toMatchObject({ answer: 'reserved' })
    const { holds: full } = await scene().read(accountsNow)
    expect(full).toMatchObject([{ scope: 'namespace', subject: '', reason: 'namespace-full', note: '2 of 2 at work' }])
    expect(await scene().lease({ queue: 'other' })).toEqual([])
    await end(leases[0] as Lease)
    expect(await holds()).toEqual([])
    // The end of a run that began before the ceiling does not say that it is watched.
    await scene().end(early as Lease)
    await scene().write(repairUse)
    expect(await used('')).toBe(0)
    await scene().write((context) => setNamespaceCeiling(context, null))
    expect((await scene().lease({ queue: 'other' }))[0]?.isReserving).toBeUndefined()
  })

  it('an account that a schedule, a run in line or an attempt names is not deleted', async () => {
    await put('max')
    await put('maximum')
    await scene().schedule({ name: 'digest', options: { account: ['max'] } as never })
    const remove = (name: string) => scene().write((context) => deleteAccount(context, name, { actor }))
    expect(await remove('max')).toEqual({ answer: 'in-use', by: ['schedule digest'] })
    await made(1, ['maximum'])
    expect(await remove('maximum')).toEqual({ answer: 'in-use', by: ['runs in queue default'] })
    const { going } = await begun()
    expect(await remove('maximum')).toEqual({ answer: 'in-use', by: ['1 at work'] })
    await end(going[0] as Lease)
    expect(await remove('maximum')).toEqual({ answer: 'deleted' })
    expect(await remove('maximum')).toEqual({ answer: 'not-found' })
  })

  it('a run that is deferred under holds for days does not fail for it', async () => {
    await put('max', { maxConcurrent: 1 })
    await scene().enqueue({ target, onExhausted: 'park', options: { account: ['max'] } })
    for (let days = 0; days < 3; days++) {
      const [lease] = (await begun()).going
      expect(await limited(lease as Lease, { resetAt: scene().clock.now + 6 * hour })).toMatchObject({
        status: 'ready',
      })
      scene().clock.now += 24 * hour
    }
    const { going } = await begun()
    expect(going).toHaveLength(1)
  })
})
