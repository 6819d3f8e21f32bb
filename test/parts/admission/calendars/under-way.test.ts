import { expect, it } from 'vitest'
import { turnHolds } from '../../../../src/store/holds/turn-holds.ts'
import { leaseInStep } from '../../../../src/store/leases/lease.ts'
import { run } from '../../../../src/store/statement.ts'
import type { StoreContext } from '../../../../src/store/store-context.ts'
import { openGate } from '../../../gate.ts'
import { startAt, verbsAt } from '../../../operations/desk.ts'
import { hour, inEachWard, minute } from '../../../operations/store/ward.ts'

const zone = 'Europe/Paris'
const closesAt = startAt + 8 * hour

inEachWard((ward, kind) => {
  const { calendars, runs } = verbsAt(() => ward().context)

  /** Leases in a transaction that stays open, on a database with several writers, until the other one is done or waits for it. */
  async function leaseAround(closing: () => Promise<unknown>) {
    const can = { kinds: ['handler'] }
    const request = { queue: 'default', workerId: await ward().worker(), claimId: 'under way', can, limit: 1 }
    const { store } = ward()
    if (kind === 'SQLite') {
      const { leases } = await store.do((context: StoreContext) => leaseInStep(context, request))
      await closing()
      return leases
    }
    const gate = await openGate()
    const leasing = store.do(function* slowly(context: StoreContext) {
      const answer = yield* leaseInStep(context, request)
      yield* run(gate.waitsAt)
      return answer
    })
    let leaser: number | undefined
    while (leaser === undefined) leaser = await gate.waiterOf(gate.pid)
    let isDone = false
    const closed = closing().finally(() => {
      isDone = true
    })
    while (!isDone && (await gate.waiterOf(leaser)) === undefined);
    await gate.open()
    await closed
    return (await leasing).leases
  }

  it.each([
    [
      'in the last millisecond before a closing',
      async () => {
        ward().clock.set(closesAt)
        await ward().store.do(turnHolds, { limit: 100 })
      },
    ],
    [
      'while an edit closes its calendar',
      async () => void (await calendars.put('office', { zone, open: ['tue 08:00-18:00'] })),
    ],
  ])(
    'a run leased %s is given back too, though the lease is not committed when the closing begins',
    async (_, close) => {
      await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'] })
      const { id } = await runs.enqueue({ target: { handler: 'report' }, calendar: 'office', atClose: 'release' })
      ward().clock.set(closesAt - 1)
      const leases = await leaseAround(close)
      expect(leases.map(({ runId }) => runId)).toEqual([id])
      const [renewal] = await ward().store.renew(leases, minute)
      expect(renewal).toMatchObject({ renewed: true, releaseRequestedAt: expect.any(Number) })
    },
  )
})
