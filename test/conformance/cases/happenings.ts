import assert from 'node:assert/strict'
import type { EventCursor } from '../../../src/store/event-view.ts'
import type { Lease, Store } from '../../../src/store/port.ts'
import { listEvents } from '../../../src/store/reads/list-events.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { actor, type Case, enqueueMany, noop, type Stage } from '../place.ts'

export const happenings: Case[] = [
  {
    name: 'what has happened is told in the order of time, once, whatever page it is read by',
    async run(stage) {
      const store = await stage.open()
      const { place } = await store.look(listEvents, null, 10)
      await stage.setPolicy(store, { maxConcurrent: 50, maxAttempts: 2, backoffBaseMs: 0, backoffCapMs: 0 })
      await store.do(
        putSchedule,
        { name: 'often', timing: { everyMs: 1_000 }, target: { handler: 'noop' } },
        { mode: 'put', actor },
      )
      stage.clock.advance(1_000)
      await store.fireDue({ limit: 10 })
      await enqueueMany(store, 20, () => noop())
      const { lease } = await stage.lessor(store)
      const leases = await lease(50)
      await store.settle(
        leases.map((held, index) => ({
          ...held,
          outcome: index % 4 === 0 ? ({ kind: 'failed', reason: 'once' } as const) : ({ kind: 'success' } as const),
        })),
      )
      stage.clock.advance(10)
      const whole = await readAll(store, place, 1_000)
      const kinds = new Map<string, number>()
      for (const { happened } of whole) kinds.set(happened.kind, (kinds.get(happened.kind) ?? 0) + 1)
      assert.deepEqual(Object.fromEntries(kinds), {
        changed: 2,
        'schedule.fired': 1,
        'run.attempt-ended': 6,
        'run.completed': 15,
      })
      const ordered = whole.map(({ place: { at } }) => at)
      assert.deepEqual(
        ordered,
        ordered.toSorted((a, b) => a - b),
      )
      for (const limit of [1, 2, 7]) assert.deepEqual(await readAll(store, place, limit), whole)
      for (const [index, event] of whole.entries()) {
        assert.deepEqual(await readAll(store, event.place, 5), whole.slice(index + 1))
      }
    },
  },
  {
    name: 'a reader that follows while others write misses nothing and hears nothing twice',
    run: follow,
  },
]

async function readAll(store: Store, after: EventCursor, limit: number) {
  const heard = []
  let place = after
  for (;;) {
    const page = await store.look(listEvents, place, limit)
    heard.push(...page.events)
    place = page.place
    if (!page.more) return heard
  }
}

const writersMax = 3
const roundsMax = 20
const looksMax = 20_000

/** By the stores' own clocks: how far everything is visible is told by the instants at which transactions have begun. */
async function follow(stage: Stage): Promise<void> {
  const reading = await stage.openWithOwnClock()
  await stage.setPolicy(reading, { maxConcurrent: 1_000 })
  const made: string[] = []
  const heard: string[] = []
  let isWriting = true
  const listening = listen(reading, heard, () => isWriting || heard.length < made.length)
  await Promise.all(
    Array.from({ length: writersMax }, async () => {
      const store = await stage.openWithOwnClock()
      const { lease } = await stage.lessor(store)
      for (let round = 0; round < roundsMax; round++) {
        made.push(...(await enqueueMany(store, 4, () => noop())))
        await complete(store, await lease(4))
      }
    }),
  )
  const { lease } = await stage.lessor(reading)
  await complete(reading, await lease(1_000))
  isWriting = false
  await listening
  assert.deepEqual(heard.map((id) => id.split('.')[0]).toSorted(), made.toSorted())
}

async function listen(store: Store, heard: string[], goesOn: () => boolean): Promise<void> {
  let { place } = await store.look(listEvents, null, 1)
  for (let looks = 0; goesOn() && looks < looksMax; looks++) {
    const page = await store.look(listEvents, place, 7)
    for (const { id, happened } of page.events) if (happened.kind === 'run.completed') heard.push(id)
    place = page.place
  }
}

async function complete(store: Store, leases: readonly Lease[]): Promise<void> {
  await store.settle(leases.map((lease) => ({ ...lease, outcome: { kind: 'success' } })))
}
