import { pause } from '../../src/core/clock.ts'
import { BelfryError, isPassing } from '../../src/core/error.ts'
import { kernelHoldReasons } from '../../src/core/hold-reason.ts'
import { backfillSchedule } from '../../src/parts/backfill/backfill-schedule.ts'
import { actOnSchedule } from '../../src/parts/planner/looks/act-on-schedule.ts'
import { liftHold, liftHolds } from '../../src/store/holds/lift-hold.ts'
import { listHolds } from '../../src/store/holds/list-holds.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import type { Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { retryRun } from '../../src/store/runs/retry-run.ts'
import { deleteSchedule } from '../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { Breach } from '../invariants/breach.ts'
import type { World } from '../world.ts'
import { actOnAccount } from './accounts.ts'
import { actOnAdmission } from './admission.ts'
import { drawHold, stopped } from './holds.ts'
import { drawQueueChange, queueNames } from './queues.ts'
import { enqueueSome, type Keys } from './runs.ts'
import { drawBackfill, drawHint, drawSpec, scheduleNames, schedulesThere } from './schedules.ts'
import { authorBy, plannedAs, steerByClear, steerByHint, steerByPause } from './steering.ts'

const actor = { name: 'somebody', door: 'simulation' }

/** How often people do each thing, against all others. */
const weights = {
  enqueue: 45,
  put: 12,
  pause: 4,
  'pause for a while': 3,
  resume: 6,
  delete: 2,
  hint: 6,
  'clear hints': 2,
  'run now': 5,
  backfill: 3,
  cancel: 6,
  reset: 4,
  retry: 4,
  'set queue': 6,
  'pause queue': 2,
  'resume queue': 4,
  hold: 4,
  lift: 5,
  stop: 1,
  go: 4,
} as const

type Act = keyof typeof weights

const triesMax = 5
const tryAgainMs = 30

/** People who use the store while all this happens, some of whom try again what they were not answered. */
export class People {
  readonly #world: World
  readonly #weights: Readonly<Record<Act, number>>
  readonly #seen = new Map<string, { readonly version: number; readonly epoch: number }>()
  readonly #keys: Keys = { idempotency: new Map(), made: 0 }

  constructor(world: World) {
    this.#world = world
    // Without work there is nothing to go wrong.
    this.#weights = { ...world.random.swarm(weights), enqueue: weights.enqueue }
  }

  /** Somebody does something, and somebody else soon after. */
  begin(): void {
    const { random, scenery, timeline } = this.#world
    timeline.add(1 + random.waitMs(scenery.actMs), null, 'act', () => {
      if (this.#world.isCalm) return
      this.#act()
      this.begin()
    })
  }

  #act(): void {
    if (this.#world.hasAccounts && this.#world.random.chance(0.08)) {
      this.#world.history.count('act: account')
      void this.#answered('account', actOnAccount(this.#world))
      return
    }
    if (this.#world.hasAdmission && this.#world.random.chance(0.1)) {
      this.#world.history.count('act: admission')
      void this.#answered('admission', actOnAdmission(this.#world))
      return
    }
    const act = this.#world.random.weighted(this.#weights)
    this.#world.history.count(`act: ${act}`)
    this.#world.note(this.#world.people, act)
    void this.#answered(act, this.#do(act))
  }

  async #answered(act: string, done: Promise<unknown>): Promise<void> {
    await done.catch((error: unknown) => {
      if (error instanceof BelfryError) return
      this.#world.broke(new Breach('people are answered in words', { act, error: String((error as Error).stack) }))
    })
  }

  async #do(act: Act): Promise<unknown> {
    const { random, people, clock, scenery } = this.#world
    const { store } = people
    const schedule = random.pick(scheduleNames.slice(0, Math.max(1, scenery.schedulesMax)))
    const queue = random.pick(queueNames)
    const [run = ''] = this.#someRun()
    switch (act) {
      case 'enqueue':
        return enqueueSome(this.#world, this.#keys)
      case 'put':
        if (scenery.schedulesMax === 0) return undefined
        return store.do(putSchedule, drawSpec(this.#world, schedule), { mode: 'put', actor })
      case 'pause':
        return this.#insisting((again) => again.do(pauseSchedule, schedule, { reason: 'for a test', actor }))
      case 'pause for a while':
        return this.#pause(schedule)
      case 'resume':
        return this.#insisting((again) => again.do(resumeSchedule, schedule, { actor }))
      case 'delete':
        return store.do(deleteSchedule, schedule, { cancelLeased: random.chance(0.5), actor })
      case 'hint':
        return this.#hint()
      case 'clear hints':
        return store.do(steerByClear, schedule, authorBy(clock.now()))
      case 'run now':
        return store.do(runNow, schedule, { force: random.chance(0.3) })
      case 'backfill':
        return store.do(backfillSchedule, schedule, drawBackfill(this.#world))
      case 'cancel':
        return this.#insisting((again) => again.do(cancelRun, run, 'nobody wants it'))
      case 'reset':
        return store.do(resetRun, this.#someRun('parked')[0] ?? run)
      case 'retry':
        return store.do(retryRun, run, { latest: random.chance(0.2) && this.#isOfSchedule(run) })
      case 'set queue':
        return store.do(setQueue, queue, { policy: drawQueueChange(random), actor })
      case 'pause queue':
        return store.do(setQueue, queue, { paused: { reason: 'for a test' }, actor })
      case 'resume queue':
        return this.#insisting((again) => again.do(setQueue, queue, { paused: false, actor }))
      case 'hold':
        return store.do(putHold, drawHold(this.#world, { queue, schedule }))
      case 'lift': {
        const holds = await store.look(listHolds)
        return holds.length === 0 ? undefined : store.do(liftHold, random.pick(holds).id, { actor })
      }
      case 'stop':
        return store.do(putHold, { scope: 'namespace', subject: '', reason: kernelHoldReasons.stopped, actor })
      case 'go':
        return this.#insisting((again) => again.do(liftHolds, stopped, { actor }))
    }
  }

  async #hint(): Promise<unknown> {
    const there = schedulesThere(this.#world)
    if (there.length === 0) return undefined
    const { name } = this.#world.random.pick(there).spec
    const hint = drawHint(this.#world, name)
    const author = authorBy(hint.expiresAt ?? 0)
    const seen = this.#seen.get(name)
    this.#noteSeen()
    if (author.kind !== 'planner' || seen === undefined)
      return this.#world.people.store.do(steerByHint, name, hint, author)
    return this.#world.people.store.do(actOnSchedule, { ...seen, schedule: name, ...plannedAs(hint, author) })
  }

  /** What a planner sees that looks now. It acts on it when the next hint is given, and persons may have acted before it. */
  #noteSeen(): void {
    for (const { spec, row } of schedulesThere(this.#world))
      this.#seen.set(spec.name, { version: row.version, epoch: row.hint_epoch })
  }

  async #pause(schedule: string): Promise<unknown> {
    const { random, people, clock } = this.#world
    const until = clock.now() + random.between(10, 20_000)
    return people.store.do(steerByPause, schedule, until, authorBy(until))
  }

  /** Some run of the newest, or of those that stand so. */
  #someRun(standing?: 'parked'): string[] {
    const known = this.#world.knownRuns(40)
    const wanted =
      standing === undefined
        ? known
        : known.filter((id) => {
            const place = this.#world.books.runs.byText(id)?.places[0]
            return place?.kind === 'aside' && place.row.kind === standing
          })
    return wanted.length === 0 ? [] : [this.#world.random.pick(wanted)]
  }

  #isOfSchedule(runId: string): boolean {
    return this.#world.books.runs.byText(runId)?.definition.schedule_id != null
  }

  /** What may be asked twice is asked until there is an answer. */
  async #insisting<Answer>(ask: (store: Store) => Promise<Answer>): Promise<Answer | undefined> {
    const { people } = this.#world
    for (let tries = 1; tries <= triesMax; tries++) {
      try {
        return await ask(people.store)
      } catch (error) {
        if (!isPassing(error)) throw error
        await pause(people.clock, tryAgainMs)
      }
    }
    return undefined
  }
}
