import type { EngineEvents } from '../../../engine/events.ts'
import { isoText } from '../../../operations/input/instant.ts'
import type { Paint } from '../../../operations/show.ts'
import { isColoured, paintOf, printable } from '../show/terminal-sheet.ts'
import { howLong } from '../show/time-text.ts'
import { type Naming, spelled } from '../spelling/spelling.ts'
import type { Heard, Serving, World } from '../world.ts'
import { Stopped } from './stop-summary.ts'
import { type Counts, countsForPrograms, countsText } from './tally.ts'

interface WorkerStart {
  readonly place: string
  /** Whether the store is new. */
  readonly isNew: boolean
  readonly isOnce: boolean
  readonly slots?: number
  readonly queues?: string[]
}

interface Manner {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly naming: Naming
}

/** The result of `--once`. */
export interface Left {
  /** The next instant at which something is due. */
  readonly nextAt: number | null
  /** Whether there are ready runs that could not start. */
  readonly isWaiting: boolean
  readonly counts: Counts
}

const loud: ReadonlySet<string> = new Set(['warn', 'error', 'fatal'])
/** Events that the first and last lines already report. */
const saidElsewhere: ReadonlySet<string> = new Set(['worker.started', 'worker.stopping', 'worker.stopped'])

const rememberedMax = 10_000

/** Prints what a worker does: a line for each event, or a line of JSON. */
export class WorkerReport {
  readonly #world: World
  readonly #paint: Paint
  readonly #isJson: boolean
  readonly #isQuiet: boolean
  readonly #naming: Naming
  readonly #stopped = new Stopped()
  /** Schedule names of the runs that this worker fired, by run id. */
  readonly #schedules = new Map<string, string>()
  /** Runs that ended when their lease was reclaimed: that line reports their end, which also comes as its own event. */
  readonly #endsTold = new Set<string>()

  constructor(world: World, { isJson, isQuiet, naming }: Manner) {
    this.#world = world
    this.#naming = naming
    this.#isJson = isJson
    this.#isQuiet = isQuiet
    this.#paint = paintOf(isColoured(world.stdout, world.env))
  }

  opening({ place, isNew, isOnce, slots, queues }: WorkerStart): void {
    if (this.#isQuiet) return
    const { bold, dim } = this.#paint
    const limits = [
      ...(slots === undefined ? [] : [slots === 1 ? 'one run at a time' : `at most ${slots} runs at once`]),
      ...(queues === undefined ? [] : [`only of ${queues.join(', ')}`]),
    ]
    this.#say(
      `${bold('Belfry')} works on ${place}${isNew ? ' (new)' : ''}${limits.length === 0 ? '' : `, ${limits.join(', ')}`}.`,
    )
    if (isOnce) return
    this.#say(dim(isNew ? 'Ctrl-C ends it. In another terminal:' : 'Ctrl-C ends it.'))
    if (!isNew) return
    this.#say(dim(`  ${this.#spelled('belfry schedule create hello --every 10s --start-now --command -- date')}`))
    this.#say(dim(`  ${this.#spelled('belfry schedule list')}`))
    this.#say(dim(`  ${this.#spelled('belfry explain schedule hello')}`))
  }

  /** The address of the HTTP door; `taken` when the default address is in use. */
  serving(door: Serving | 'taken' | null): void {
    if (this.#isQuiet || door === null) return
    const { dim } = this.#paint
    if (door === 'taken') {
      this.#say(
        dim('127.0.0.1:4747 is in use, so this worker opens no HTTP door; choose another address with --listen.'),
      )
      return
    }
    const { url, token } = door
    const made = token === null ? '' : `; ${token.isNew ? 'a token was written to' : 'the token is in'} ${token.file}`
    this.#say(dim(`It listens at ${url} (${url}/docs)${made}.`))
  }

  hear({ name, event, level, sentence }: Heard): void {
    this.#stopped.hear({ name, event })
    if (name === 'worker.stopping') this.#stopping(event as EngineEvents['worker.stopping'])
    if (name === 'schedule.fired') this.#remember(event as EngineEvents['schedule.fired'])
    const isLoud = loud.has(level)
    if (this.#isQuiet && !isLoud) return
    const at = this.#world.clock.now()
    if (this.#isJson) {
      this.#write({ at: isoText(at), event: name, level, ...forPrograms(event) })
      return
    }
    if (this.#isToldBefore(name, event)) return
    // No line for the start: the end of a run reports it, and `run list` shows runs that have not
    // ended.
    if ((level === 'debug' && name !== 'schedule.fired') || saidElsewhere.has(name)) return
    const { dim, red, yellow } = this.#paint
    const colour = level === 'error' ? red : isLoud ? yellow : (text: string) => text
    this.#say(`${dim(timeOf(at))} ${colour(this.#withSchedule(this.#spelledIn(sentence), event))}`)
  }

  #isToldBefore(name: string, event: object): boolean {
    const { runId, fence, status } = event as Partial<EngineEvents['run.reclaimed']>
    if (name !== 'run.reclaimed') return this.#endsTold.delete(`${runId} ${fence}`)
    if (status !== 'ready') this.#endsTold.add(`${runId} ${fence}`)
    return false
  }

  #remember({ schedule, runId }: EngineEvents['schedule.fired']): void {
    this.#schedules.set(runId, schedule)
    const [oldest] = this.#schedules.keys()
    if (this.#schedules.size > rememberedMax && oldest !== undefined) this.#schedules.delete(oldest)
  }

  #withSchedule(sentence: string, event: object): string {
    const { runId } = event as { readonly runId?: string }
    const schedule = runId === undefined ? undefined : this.#schedules.get(runId)
    return schedule === undefined ? sentence : sentence.replace(`Run ${runId},`, `Run ${runId} of ${schedule},`)
  }

  /** Printed also with --quiet: the user asked for a stop and should see why it takes time. */
  #stopping({ running, graceMs }: EngineEvents['worker.stopping']): void {
    if (running === 0) return
    const what = running === 1 ? '1 run is at work and' : `${running} runs are at work and`
    this.#say(`Stopping: ${what} may take ${howLong(graceMs)} to end. Press Ctrl-C again to stop at once.`)
  }

  /** With --once also what was done and what is due next. */
  closing(done: Left | null): void {
    if (this.#isQuiet) return
    const now = this.#world.clock.now()
    if (this.#isJson && done !== null) {
      this.#write({ at: isoText(now), event: 'worker.done', level: 'info', ...countsForPrograms(done.counts) })
    }
    this.#say(
      done === null
        ? this.#stopped.text
        : `${doneText(done, now, this.#spelled('belfry run list --status ready'))} ${nextText(done, now)}`.trimEnd(),
    )
  }

  #write(line: object): void {
    this.#world.stdout.write(`${JSON.stringify(line)}\n`)
  }

  #spelled(command: string): string {
    return spelled(command, this.#world.own, this.#naming)
  }

  /** Rewrites only text that is marked as a command: the rest of a sentence may contain a user's name. */
  #spelledIn(sentence: string): string {
    return sentence.replace(/`belfry [^`]*`/g, (command) => this.#spelled(command))
  }

  #say(line: string): void {
    if (this.#isJson) return
    this.#world.stdout.write(`${printable(line)}\n`)
  }
}

function timeOf(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}

/** Runs that cannot start, because of a rate limit, a pause or a missing handler, were due all the same. */
function doneText({ isWaiting, counts }: Left, now: number, list: string): string {
  const told = countsText(counts, now)
  const done = told === '' ? '' : `: ${told}`
  return isWaiting
    ? `Every run that could start is done${done}. Other runs are ready and wait: ${list}.`
    : `Everything that was due is done${done}.`
}

function nextText({ nextAt, isWaiting }: Left, now: number): string {
  if (nextAt === null) return isWaiting ? '' : 'Nothing is due later.'
  return nextAt <= now ? 'More work has come due since.' : `The next work is due in ${howLong(nextAt - now)}.`
}

/** The fields of events that are instants. */
const instants: ReadonlySet<string> = new Set(['occurrenceAt', 'nextEligibleAt', 'from', 'until'])

/** Instants as ISO text; errors with their fields, which JSON would leave out. */
function forPrograms(event: object): object {
  const fields = Object.entries(event).map(([name, value]) => {
    if (value instanceof Error) return [name, value.message]
    return [name, instants.has(name) && typeof value === 'number' ? isoText(value) : value]
  })
  return Object.fromEntries(fields)
}
