import { randomBytes } from 'node:crypto'
import { isPassing } from '../../src/core/error.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { putAccount } from '../../src/parts/admission/accounts/write-account.ts'
import { createTask } from '../../src/parts/agents/tasks/put-task.ts'
import type { Actor, Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { clockNow, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import type { Ceiling, SchedulePromise } from './history.ts'

const actor: Actor = { name: 'faults', door: 'test' }
const secondMs = 1_000
const hourMs = 3_600_000

/** How long one write may take on a busy machine. */
const leadSeconds = 3

/** Short enough to be lost in the time that a lease takes to expire, so that recovery shows Belfry and not the policy. */
export const backoffMs = 10

/** Long enough that a queue of two is often full, and not so long that it cannot keep up. */
const narrowMs = 120

export const ceilings: readonly Ceiling[] = [
  { queue: 'work', most: 40, mostPerKey: null },
  { queue: 'keyed', most: 12, mostPerKey: 2 },
  { queue: 'narrow', most: 2, mostPerKey: null },
]

/** The account that some runs name, in several queues. */
export const accountName = 'shared'
export const accountMost = 3

/**
 * Three kinds of schedules, by what they promise: a run for every instant, an end for every instant, an unbroken chain.
 * The first come every other second only: of more than three that are missed at once each waits for its share of half a
 * minute, and so would everybody who waits for the end of the round.
 */
const kinds: readonly { readonly count: number; readonly promises: SchedulePromise['kind']; readonly spec: Kind }[] = [
  {
    count: 4,
    promises: 'every-instant',
    spec: {
      timing: { cron: '*/2 * * * * *', zone: 'UTC' },
      missed: 'all',
      overlap: 'allow',
      maxLatenessMs: hourMs,
      queue: 'work',
    },
  },
  {
    count: 2,
    promises: 'every-instant',
    spec: {
      timing: { everyMs: 2 * secondMs, from: 'start' },
      missed: 'all',
      overlap: 'allow',
      maxLatenessMs: hourMs,
      queue: 'keyed',
      concurrencyKey: 'key 0',
    },
  },
  {
    count: 2,
    promises: 'every-instant-told',
    spec: { timing: { cron: '* * * * * *', zone: 'UTC' }, missed: 'once', overlap: 'skip', queue: 'narrow' },
  },
  {
    count: 1,
    promises: 'every-instant-told',
    spec: {
      timing: { cron: '*/2 * * * * *', zone: 'UTC' },
      missed: 'once',
      overlap: 'allow',
      queue: 'work',
      repeatable: false,
    },
  },
  { count: 2, promises: 'delay', spec: { timing: { everyMs: secondMs, from: 'end' }, queue: 'work' } },
]

/** What tasks promise: each occurrence one end, whether it is late by its spread or by a kill. */
const taskKinds: readonly { readonly promises: SchedulePromise['kind']; readonly spec: Kind }[] = [
  {
    promises: 'every-instant',
    spec: { timing: { cron: '*/2 * * * * *', zone: 'UTC' }, missed: 'all', overlap: 'allow', maxLatenessMs: hourMs },
  },
  {
    promises: 'every-instant',
    spec: { timing: { everyMs: 4 * secondMs, from: 'start' }, missed: 'all', overlap: 'allow', maxLatenessMs: hourMs },
  },
  {
    promises: 'every-instant-told',
    spec: { timing: { cron: '*/2 * * * * *', zone: 'UTC' }, missed: 'once', overlap: 'skip' },
  },
]

type Kind = Omit<ScheduleSpec, 'name' | 'target' | 'payload' | 'startAt'>

interface Placed {
  readonly spec: ScheduleSpec & { readonly startAt: number }
  readonly promises: SchedulePromise['kind']
}

/** The schedules and queues of one round. */
export class Workload {
  readonly #store: Store
  readonly #placed: Placed[] = []

  constructor(store: Store) {
    this.#store = store
  }

  /** Sets all of it up. Each schedule begins some whole seconds ahead: one that were written after its first instant would miss it. */
  async place({ hasSchedules }: { readonly hasSchedules: boolean }): Promise<void> {
    for (const { queue, most, mostPerKey } of ceilings) {
      const policy = {
        maxConcurrent: most,
        maxConcurrentPerKey: mostPerKey,
        maxAttempts: 1_000,
        backoffBaseMs: backoffMs,
        backoffCapMs: backoffMs,
      }
      await inTime(leadSeconds, () => this.#store.do(setQueue, queue, { actor, policy }))
    }
    await inTime(leadSeconds, () => this.#store.do(putAccount, accountName, { maxConcurrent: accountMost }, { actor }))
    for (const { count, promises, spec } of hasSchedules ? kinds : []) {
      for (let number = 0; number < count; number++) {
        const name = `${promises} ${this.#placed.length}`
        const payload = { ms: spec.queue === 'narrow' ? narrowMs : 20 }
        const placed = await inTime(leadSeconds, async (startAt) => {
          const whole = { ...spec, name, startAt, target: { handler: 'work' }, payload }
          await this.#store.do(before(startAt, (context) => putSchedule(context, whole, { mode: 'put', actor })))
          return whole
        })
        this.#placed.push({ spec: placed, promises })
      }
    }
  }

  /** Makes more tasks of one project than it may have, all at once, and answers how many were made. */
  async placeTasks(asked: number): Promise<number> {
    const facts = { author: 'faults', by: 'person', project: '/srv/app' } as const
    const making = Array.from({ length: asked }, async (_, number) => {
      const { promises, spec } = taskKinds[number % taskKinds.length] as (typeof taskKinds)[number]
      const ids = [randomBytes(4).toString('hex')]
      const work = { target: { handler: 'work' }, payload: { ms: 20 }, spread: 'settings', queue: 'work' } as const
      const made = await inTime(leadSeconds, (startAt) => {
        const task = { spec: { ...spec, ...work, startAt }, facts, asked: number, ids }
        return this.#store.do(before(startAt, (context) => createTask(context, task, { actor })))
      })
      return { made, promises }
    })
    const made = (await Promise.allSettled(making)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    for (const { made: task, promises } of made) {
      if (task.answer === 'created') this.#placed.push({ spec: task.put.schedule.spec as Placed['spec'], promises })
    }
    return made.length
  }

  /** Lets all schedules end soon, between two of their instants. Answers what each must have come to by then. */
  async end(): Promise<Map<string, SchedulePromise>> {
    const ended = await Promise.all(
      this.#placed.map(async ({ spec, promises }) => {
        const endAt = await this.#endOne(spec)
        return [spec.name, promiseOf(spec, promises, { startAt: spec.startAt, endAt })] as const
      }),
    )
    return new Map(ended)
  }

  #endOne(spec: Placed['spec']): Promise<number> {
    return inTime(2, async (at) => {
      const endAt = Math.max(at, spec.startAt + 2 * secondMs) + secondMs / 2
      await this.#store.do(before(endAt, (context) => putSchedule(context, { ...spec, endAt }, { mode: 'put', actor })))
      return endAt
    })
  }
}

class TooLate extends Error {}

/** On a busy machine a write may take so long that the instant it is about has passed, or the store gives up on it: it is tried again with a later one. */
async function inTime<Result>(leastSeconds: number, write: (at: number) => Promise<Result>): Promise<Result> {
  for (let seconds = leastSeconds; ; seconds *= 2) {
    try {
      return await write(Math.ceil(Date.now() / secondMs + seconds) * secondMs)
    } catch (error) {
      const isOfMoment = error instanceof TooLate || isPassing(error)
      if (!isOfMoment || seconds > 60) throw error
    }
  }
}

/** A verb that changes nothing if the instant has passed at its end. */
function before<Result>(at: number, verb: (context: StoreContext) => Step<Result>) {
  return function* (context: StoreContext): Step<Result> {
    const result = yield* verb(context)
    if ((yield* clockNow()) >= at) throw new TooLate()
    return result
  }
}

function promiseOf(
  { timing }: ScheduleSpec,
  kind: SchedulePromise['kind'],
  { startAt, endAt }: { startAt: number; endAt: number },
): SchedulePromise {
  if (kind === 'delay') return { kind, everyMs: secondMs, endAt }
  // A cron stands on the calendar's seconds, a rate on those from its start.
  const [stepMs, firstAt] = stepsOf(timing, startAt)
  const targets: number[] = []
  for (let at = firstAt; at <= endAt; at += stepMs) targets.push(at)
  return { kind, targets }
}

function stepsOf(
  { cron, everyMs = secondMs }: ScheduleSpec['timing'],
  startAt: number,
): [stepMs: number, firstAt: number] {
  if (cron === undefined) return [everyMs, startAt]
  const stepMs = cron.startsWith('*/2') ? 2 * secondMs : secondMs
  return [stepMs, Math.ceil(startAt / stepMs) * stepMs]
}
