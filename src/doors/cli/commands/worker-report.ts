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
  /** Whether the store was made just now. */
  readonly isNew: boolean
  readonly isOnce: boolean
  readonly slots?: number
  readonly queues?: string[]
}

interface Manner {
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** What is at work when it is told to end has so long. */
  readonly graceMs: number
  readonly naming: Naming
}

/** What a worker leaves that has done all it could. */
export interface Left {
  /** When time alone makes something happen. */
  readonly nextAt: number | null
  /** Whether runs are ready that could not go. */
  readonly isWaiting: boolean
  /** What became of the runs it ended. */
  readonly counts: Counts
}

const loud: ReadonlySet<string> = new Set(['warn', 'error', 'fatal'])
/** Said by the opening and closing lines in their own words. */
const saidElsewhere: ReadonlySet<string> = new Set(['worker.started', 'worker.stopping', 'worker.stopped'])

const rememberedMax = 10_000

/** Tells what a worker does: a line an event for people, a line of JSON for programs. */
export class WorkerReport {
  readonly #world: World
  readonly #paint: Paint
  readonly #isJson: boolean
  readonly #isQuiet: boolean
  readonly #graceMs: number
  readonly #naming: Naming
  readonly #stopped = new Stopped()
  /** The schedules of runs that this worker fired, by run: a person knows the name rather than the id. */
  readonly #schedules = new Map<string, string>()
  /** Runs that ended when their lease was taken back: that line tells their end, which comes as an event of its own. */
  readonly #endsTold = new Set<string>()

  constructor(world: World, { isJson, isQuiet, graceMs, naming }: Manner) {
    this.#world = world
    this.#graceMs = graceMs
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

  /** Where the HTTP door is; `taken` where somebody else listens at the usual address. */
  serving(door: Serving | 'taken' | null): void {
    if (this.#isQuiet || door === null) return
    const { dim } = this.#paint
    if (door === 'taken') {
      this.#say(
        dim(
          'Somebody else listens at 127.0.0.1:4747, so this worker opens no HTTP door; --listen names another address.',
        ),
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
    // That a run started is told by its end, and what has no end soon by `run list`.
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

  /** Also to whoever wants quiet: he asked for an end, and would wonder why it does not come. */
  #stopping({ running }: EngineEvents['worker.stopping']): void {
    if (running === 0) return
    const what = running === 1 ? '1 run is at work and' : `${running} runs are at work and`
    this.#say(`Stopping: ${what} may take ${howLong(this.#graceMs)} to end. Ctrl-C again does not wait.`)
  }

  /** With what was done and when it goes on, where all that was due is done. */
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

  /** Only what is marked as a command: the rest of a sentence may be a name that somebody gave. */
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

/** What cannot go, because of a rate, a pause or a handler that this worker has not, was due all the same. */
function doneText({ isWaiting, counts }: Left, now: number, list: string): string {
  const told = countsText(counts, now)
  const done = told === '' ? '' : `: ${told}`
  return isWaiting
    ? `All that could go is done${done}. Other runs are ready and wait: ${list}.`
    : `All that was due is done${done}.`
}

function nextText({ nextAt, isWaiting }: Left, now: number): string {
  if (nextAt === null) return isWaiting ? '' : 'Nothing comes next.'
  return nextAt <= now ? 'More has become due since.' : `The next comes in ${howLong(nextAt - now)}.`
}

/** The fields of events that are instants. */
const instants: ReadonlySet<string> = new Set(['occurrenceAt', 'nextEligibleAt', 'from', 'until'])

/** Instants as every door tells them; and an error has no fields that JSON would show. */
function forPrograms(event: object): object {
  const fields = Object.entries(event).map(([name, value]) => {
    if (value instanceof Error) return [name, value.message]
    return [name, instants.has(name) && typeof value === 'number' ? isoText(value) : value]
  })
  return Object.fromEntries(fields)
}
