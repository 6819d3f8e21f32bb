import { describe, expect, inject, it } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Fired, Lease, Store } from '../../src/store/port.ts'
import { actor, hour, hourly, minute, startAt } from './schedule-stage.ts'

const stores = 4

/** Numbers that look random and are the same in every run. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

describe('several processes on PostgreSQL', () => {
  async function fleet(schema: string) {
    const clock = { now: startAt }
    const source = { now: () => clock.now, monotonic: () => clock.now }
    const options = { clock: source, schema, connectionsMax: 2, allowNonDurable: true, defaultMaxConcurrent: 1_000 }
    const opened: Store[] = []
    for (let index = 0; index < stores; index++) opened.push(await openStore(inject('postgresUrl'), options))
    return { clock, opened, first: opened[0] as Store }
  }

  it('law 1: of all who fire at once only one makes the run of an occurrence', async () => {
    const { clock, opened, first } = await fleet('fire_once')
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`)
    const target = { handler: 'h' }
    for (const name of names) await first.putSchedule({ name, timing: hourly, target }, { mode: 'put', actor })
    clock.now = startAt + hour
    const looks = await Promise.all(
      opened.flatMap((store) => [store.fireDue({ limit: 20 }), store.fireDue({ limit: 20 })]),
    )
    let rest: Fired
    do {
      rest = await first.fireDue({ limit: 100 })
      looks.push(rest)
    } while (rest.more)
    const fired = looks.flatMap(({ runs }) => runs.map(({ schedule }) => schedule))
    expect(fired.toSorted()).toEqual(names.toSorted())
    await Promise.all(opened.map((store) => store.close()))
  })

  it('of all who create the same name at once one creates it, and the others find it', async () => {
    const { opened } = await fleet('create_once')
    const spec = { name: 'report', timing: hourly }
    const answers = await Promise.all(opened.map((store) => store.putSchedule(spec, { mode: 'create', actor })))
    expect(answers.map(({ answer }) => answer).toSorted()).toEqual(['created', 'unchanged', 'unchanged', 'unchanged'])
    await Promise.all(opened.map((store) => store.close()))
  })

  it.each([1, 2, 3])('laws 1, 2 and 11 hold while everybody changes the same schedules (seed %i)', async (seed) => {
    const { clock, opened, first } = await fleet(`storm_${seed}`)
    const roll = dice(seed)
    const names = ['a', 'b', 'c', 'd']
    const overlaps = ['skip', 'queue', 'allow', 'cancel'] as const
    const workerId = await first.registerWorker({ name: 'w', host: 'h', can: { kinds: ['handler'] }, beatMs: minute })
    const held: Lease[] = []
    let claims = 0
    await first.setQueue('default', { policy: { maxConcurrentPerKey: 2 }, actor })

    const put = (store: Store, name: string) => {
      const timing = roll(2) === 0 ? hourly : { everyMs: (1 + roll(3)) * hour }
      const overlap = overlaps[roll(4)]
      const keyed = roll(2) === 0 ? { concurrencyKey: 'k' } : {}
      const spec = { name, timing, overlap, target: { handler: 'h' }, maxLatenessMs: 90 * hour, ...keyed }
      return store.putSchedule(spec, { mode: 'put', actor })
    }
    const act = async (store: Store) => {
      const name = names[roll(names.length)] as string
      switch (roll(10)) {
        case 0:
          return put(store, name)
        case 1:
          return store.pauseSchedule(name, { reason: 'r', ...(roll(2) === 0 && { until: clock.now + 2 * hour }) })
        case 2:
          return store.resumeSchedule(name)
        case 3:
          return roll(3) === 0 ? store.deleteSchedule(name, { cancelLeased: roll(2) === 0 }) : store.runNow(name)
        case 4: {
          const at = clock.now + roll(3) * minute
          return store.hint(name, { kind: 'oneshot', at, expiresAt: at + hour, reason: 'r', author: 'a' })
        }
        case 5:
        case 6: {
          const can = { kinds: ['handler'] }
          const claimId = `c${++claims}`
          const { leases } = await store.lease({
            queue: 'default',
            workerId,
            claimId,
            can,
            limit: 3,
            leaseMs: 900 * hour,
          })
          held.push(...leases)
          return
        }
        case 7:
        case 8: {
          const lease = held.splice(roll(held.length || 1), 1)[0]
          if (lease === undefined) return
          const { runId, fence, scheduleId } = lease
          const outcome = roll(3) === 0 ? ({ kind: 'failed', reason: 'x' } as const) : ({ kind: 'success' } as const)
          return store.settle([{ runId, fence, scheduleId, outcome }])
        }
        default:
          return store.fireDue({ limit: 10 })
      }
    }

    for (const name of names) await put(first, name)
    for (let round = 0; round < 60; round++) {
      clock.now += roll(60) * minute
      await Promise.all(opened.map((store) => act(store)))
    }

    expect(await first.repair({ limit: 100 })).toEqual([])
    const { runs } = await first.read.runs({ limit: 1_000 })
    const occurrences = runs.filter(({ occurrenceAt }) => occurrenceAt !== null)
    const identities = occurrences.map(({ scheduleId, occurrenceAt }) => `${scheduleId} ${occurrenceAt}`)
    expect(new Set(identities).size).toBe(identities.length)
    expect(occurrences.length).toBeGreaterThan(10)
    for (const name of names) {
      const view = await first.read.schedule(name)
      if (view === null || view.disabled !== null) continue
      expect(view.wakeAt !== null || view.waitsFor !== null || view.nextDecision?.source === 'none').toBe(true)
    }
    for (const { id } of await first.read.schedules({ deleted: true })) {
      const live = runs.filter(
        ({ scheduleId, status }) => scheduleId === id && (status === 'ready' || status === 'held'),
      )
      // A leased run may come back for its retry after its schedule was deleted; nothing else is left of it.
      expect(live.filter(({ fence }) => fence === 0)).toEqual([])
    }
    await Promise.all(opened.map((store) => store.close()))
  })
})
