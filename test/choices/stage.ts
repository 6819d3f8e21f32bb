import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { formatDuration } from '../../src/core/duration.ts'
import {
  Belfry,
  type EngineEvents,
  type EventName,
  type Handler,
  type HandlerRun,
  type OpenOptions,
  type ScheduleInput,
} from '../../src/index.ts'
import { openStore } from '../../src/open-store.ts'
import type { Store } from '../../src/store/port.ts'
import { drain } from '../../src/testing/drain.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { settleDown } from '../engine/stage.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const target = { handler: 'work' }

/** Only a test that has failed already waits as long as this. */
const patienceMs = 15_000

/** The day on which every test begins, at nine. */
const today = '2026-01-05'

/** An instant of that day, such as `10:30` or `10:30:15`. */
export function at(text: string): Date {
  return new Date(`${today}T${text}Z`)
}

/** An instant as tests tell it: `10:30` on the day they begin, with its date on any other, finer where it is. */
export function time(instant: number | null | undefined): string | null {
  if (instant === null || instant === undefined) return null
  const [date = '', clock = ''] = new Date(instant).toISOString().slice(0, -1).split('T')
  const short = clock.replace(/(:00)?\.000$/, '')
  return date === today ? short : `${date.slice(5)} ${short}`
}

/** What a handler was handed, and when. */
export interface Seen {
  readonly at: string | null
  readonly run: HandlerRun
}

export interface StageOptions extends Omit<OpenOptions, 'clock'> {
  /** What the handler `work` does; it answers at once if nothing is said. */
  readonly work?: Handler
  readonly startAt?: number
}

/** A program that embeds Belfry, with a clock that stands still and a handler whose every call is written down. */
export class Stage {
  readonly belfry: Belfry
  readonly clock: TestClock
  readonly seen: Seen[] = []
  readonly told: { readonly name: EventName; readonly event: unknown }[] = []
  readonly #waiting = new Set<() => void>()

  constructor(belfry: Belfry, clock: TestClock, work: Handler) {
    this.belfry = belfry
    this.clock = clock
    belfry.handle('work', (run) => {
      this.seen.push({ at: time(clock.now()), run })
      return work(run)
    })
    for (const name of eventNames) {
      belfry.on(name, (event: unknown) => {
        this.told.push({ name, event })
        this.#look()
      })
    }
  }

  /** Does what is due, and all that becomes due on the way to an instant. */
  async drainTo(instant: string | number): Promise<void> {
    const ms = momentOf(instant) - this.clock.now()
    await (ms === 0 ? drain(this.belfry) : drain(this.belfry, { clock: this.clock, for: formatDuration(ms) }))
  }

  /** Time passes to an instant while nobody works, or while somebody is at work who does not end. */
  async passTo(instant: string | number): Promise<void> {
    // Whoever is just looking at the clock would set his alarm by what it showed before.
    await settleDown()
    this.clock.advance(momentOf(instant) - this.clock.now())
    await settleDown()
  }

  /** Time passes in small steps, and everybody has a turn after each. */
  async pass(ms: number, stepMs = 500): Promise<void> {
    await settleDown()
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left))
      await settleDown(8)
    }
  }

  /** Waits until so many of these were told, and answers the last of them; in vain, it says what was told instead. */
  async until<Name extends EventName>(name: Name, count = 1): Promise<EngineEvents[Name]> {
    let isInVain = false
    const patience = setTimeout(() => {
      isInVain = true
      this.#look()
    }, patienceMs)
    while (this.of(name).length < count && !isInVain) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
    clearTimeout(patience)
    if (isInVain) throw new Error(`${count} of ${name} in vain; told: ${JSON.stringify(this.told)}`)
    return this.of(name)[count - 1] as EngineEvents[Name]
  }

  #look(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  of<Name extends EventName>(name: Name): EngineEvents[Name][] {
    return this.told.filter((one) => one.name === name).map(({ event }) => event as EngineEvents[Name])
  }

  /** When the handler was called. */
  get starts(): (string | null)[] {
    return this.seen.map((one) => one.at)
  }

  put(input: Partial<ScheduleInput>) {
    return this.belfry.schedules.put({ name: 's', target, ...input })
  }

  /** What the schedule does next, and why. */
  async next(name = 's'): Promise<string> {
    const { nextRunAt, nextDecision } = await this.belfry.schedules.get(name)
    return `${time(nextRunAt)} ${nextDecision?.source}`
  }

  /** How its occurrences ended, oldest first: `10:00 completed`, or `11:00..13:00 x3 missed` of several at once. */
  async ledger(name = 's'): Promise<string[]> {
    const rows = await this.belfry.schedules.history(name, { limit: 1_000 })
    return rows.toReversed().map(({ from, to, count, outcome, countIsAtLeast }) => {
      const several = count === 1 ? '' : `..${time(to)} x${count}${countIsAtLeast ? '+' : ''}`
      return `${time(from)}${several} ${outcome}`
    })
  }

  /** The runs of a schedule, oldest first. */
  async runs(name = 's') {
    const { runs } = await this.belfry.runs.list({ schedule: name, limit: 1_000 })
    return runs.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

function momentOf(instant: string | number): number {
  return typeof instant === 'number' ? instant : at(instant).getTime()
}

/** Opens a program over `memory:`, or over whatever store it names. Its leases outlast what handlers make time do. */
export async function open({ work = () => undefined, startAt, ...options }: StageOptions = {}): Promise<Stage> {
  const clock = new TestClock(startAt ?? at('09:00').getTime())
  const belfry = await Belfry.open({ store: 'memory:', clock, log: false, leaseMs: day, ...options })
  onTestFinished(() => closeNow(belfry, clock))
  return new Stage(belfry, clock, work)
}

/** A clock that stands still would leave a handler that does not stop no time to be left behind. */
async function closeNow(belfry: Belfry, clock: TestClock): Promise<void> {
  let isOver = false
  const closing = belfry
    .stop({ graceMs: 1 })
    .then(() => belfry.close())
    .finally(() => {
      isOver = true
    })
  while (!isOver) {
    clock.advance(1_000)
    await settleDown(1)
  }
  await closing
}

/** A program that lives by the machine's own clock, where other processes are part of the story. */
export async function live(options: Omit<OpenOptions, 'clock'>): Promise<Belfry> {
  const belfry = await Belfry.open({ log: false, ...options })
  onTestFinished(async () => {
    await belfry.stop({ graceMs: 1 })
    await belfry.close()
  })
  return belfry
}

/** The next event of a name. */
export function heard<Name extends EventName>(belfry: Belfry, name: Name): Promise<EngineEvents[Name]> {
  return new Promise((resolve) => belfry.once(name, resolve))
}

/** The URL of a SQLite file of its own. */
export function sqliteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-choices-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'belfry.db')}`
}

/** The port of a store that a program has open, by the same clock: what hosts and other workers do through it. */
export async function portOf(store: string, clock?: TestClock): Promise<Store> {
  const port = await openStore(store, clock === undefined ? {} : { clock })
  onTestFinished(() => port.close())
  return port
}

/** A handler that works until it is let go or told to stop. */
export class Gate {
  #open: () => void = () => undefined
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve
  })

  open(): void {
    this.#open()
  }

  readonly pass = async ({ signal }: Pick<HandlerRun, 'signal'>): Promise<string> => {
    await Promise.race([this.#opened, aborted(signal)])
    signal.throwIfAborted()
    return 'let go'
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const eventNames = [
  'run.started',
  'run.completed',
  'run.failed',
  'run.parked',
  'run.cancelled',
  'run.skipped',
  'run.retrying',
  'run.lease-lost',
  'run.reclaimed',
  'schedule.fired',
  'schedule.skipped',
  'clock.jumped',
  'clock.held',
  'hold.put',
  'hold.lifted',
  'worker.pruned',
  'worker.failed',
] as const satisfies readonly EventName[]
