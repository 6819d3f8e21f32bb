import { expect, it } from 'vitest'
import { turnHolds } from '../../../../src/store/holds/turn-holds.ts'
import { leaseInStep } from '../../../../src/store/leases/lease.ts'
import type { StoreContext } from '../../../../src/store/store-context.ts'
import { meet } from '../../../gate.ts'
import { startAt, verbsAt } from '../../../operations/desk.ts'
import { hour, inEachWard, minute } from '../../../operations/store/ward.ts'

const zone = 'Europe/Paris'
const closesAt = startAt + 8 * hour

inEachWard((ward, kind) => {
  const { calendars, runs } = verbsAt(() => ward().context)

  /** Leases in a transaction that is not committed when the closing begins. */
  async function leaseAround(closing: () => Promise<unknown>) {
    const can = { kinds: ['handler'] }
    const request = { queue: 'default', workerId: await ward().worker(), claimId: 'under way', can, limit: 1 }
    const [answer] = await meet(
      kind,
      (pauses) =>
        ward().store.do(function* slowly(context: StoreContext) {
          const given = yield* leaseInStep(context, request)
          if (pauses !== undefined) yield* pauses()
          return given
        }),
      closing,
    )
    return answer.leases
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
