/** `belfry`: the library. A program opens a store, registers handlers, and can run as a worker. */

import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { z } from 'zod'
import { type Clock, systemClock } from './core/clock.ts'
import { BelfryError } from './core/error.ts'
import { Engine } from './engine/engine.ts'
import { type EventName, Events } from './engine/events.ts'
import { type Executor, executorOf } from './engine/execute-run.ts'
import { settingsOf } from './engine/settings.ts'
import { kinds, messagesOf } from './kinds.ts'
import { closeOnSignals } from './library/close-on-signals.ts'
import { type HandlerReference, Handlers } from './library/handlers.ts'
import { refuseBesideOthers } from './library/injected-clock.ts'
import { contextOf } from './library/library-context.ts'
import { type Listener, Listeners } from './library/listeners.ts'
import { logEvents, loggerOf } from './library/log.ts'
import { type Opening, type OpenOptions, openingOf } from './library/options.ts'
import type { Begun, Behind } from './library/part.ts'
import { openStore } from './open-store.ts'
import { bind } from './operations/bind.ts'
import { name } from './operations/fields/basic-fields.ts'
import { onlyGiven } from './operations/fields/only-given.ts'
import { durationFields, durationOf } from './operations/input/duration-input.ts'
import { read, readWhole } from './operations/input/read-input.ts'
import { refuse } from './operations/input/refuse-input.ts'
import type { OperationContext } from './operations/operation-context.ts'
import { Waits } from './operations/run/waits.ts'
import { noted } from './operations/schema/schema-note.ts'
import { parts } from './parts.ts'
import { bindMethods, type PartMethods } from './parts-face.ts'
import type { HandlerOptions, Served, ServeOptions } from './serving.ts'
import type { Store } from './store/port.ts'
import { workAhead } from './store/reads/find-queue.ts'
import { nextInstants } from './store/reads/next-instants.ts'
import { isProvenDead, ownIdentity } from './store/workers/process-identity.ts'
import { refuseUnmarkedStore } from './store-guard.ts'
import { bindNouns, type NounVerbs } from './table.ts'
import type { Handler } from './targets/handler/handler-run.ts'
import { handlerKind } from './targets/handler/kind.ts'
import type { ExecutorHost } from './targets/kind.ts'
import { endLeftovers } from './targets/leftovers.ts'
import type { SecretResolver } from './targets/secret.ts'
import { refuseForeignStore } from './trust/trusted-store.ts'

export { type Clock, systemClock } from './core/clock.ts'
export { BelfryError, type ErrorCode } from './core/error.ts'
export type { Expectation } from './core/run/expect.ts'
export type { EndedStatus, RunStatus } from './core/run/run-state.ts'
export type { EngineEvents, EventName } from './engine/events.ts'
export type { HandledTarget, HandlerInput, HandlerReference } from './library/handlers.ts'
export type { Listener } from './library/listeners.ts'
export type { LogOption } from './library/log.ts'
export type { OpenOptions } from './library/options.ts'
export type { Problem } from './operations/input/refuse-input.ts'
export type { QueueWritten } from './operations/queue/noun.ts'
export type { PolicyInput } from './operations/queue/policy-input.ts'
export type { QueueCreated } from './operations/queue/queue-created.ts'
export type { EnqueuedItem, EnqueuedRun, EnqueueInput } from './operations/run/enqueue-runs.ts'
export type { Kept, Run, RunLine, RunList, RunResult } from './operations/run/run-answer.ts'
export type { RunInput } from './operations/run/run-input.ts'
export type { WaitInput } from './operations/run/wait.ts'
export type { HintInput } from './operations/schedule/hint-input.ts'
export type { Schedule, ScheduleDefinition } from './operations/schedule/schedule-answer.ts'
export type { RunMade } from './operations/schedule/schedule-control.ts'
export type { ScheduleInput, SchedulePatch } from './operations/schedule/schedule-input.ts'
export type { ScheduleStanding } from './operations/schedule/schedule-standing.ts'
export type { ScheduleWritten } from './operations/schedule/schedule-writes.ts'
export type { UpcomingRun } from './operations/schedule/upcoming.ts'
export type { Check, CheckName, Diagnosis, Finding } from './operations/store/diagnosis.ts'
export type { TargetInput } from './operations/target/target-input.ts'
export type { Worker } from './operations/worker/noun.ts'
export type { EventTaken, Routine, RoutineEvent } from './parts/routines/operations/routine-answer.ts'
export type { RoutineInput } from './parts/routines/operations/routine-input.ts'
export type { HandlerOptions, Served, ServeOptions } from './serving.ts'
export type { CommandTarget } from './targets/command/command-target.ts'
export { RunFailure, type RunFailureOptions } from './targets/handler/handler-failure.ts'
export { type Handler, type HandlerRun, RunStopped } from './targets/handler/handler-run.ts'
export type { HandlerTarget } from './targets/handler/kind.ts'
export type { NetworkPolicy } from './targets/http/address-guard.ts'
export type { HttpRequest, HttpTarget } from './targets/http/http-target.ts'

const startInput = z.strictObject({
  slots: z.int().min(1).max(1_000_000).optional(),
  queues: z.array(name).min(1).readonly().optional(),
  signal: noted(z.instanceof(AbortSignal), { expected: 'an AbortSignal' }).optional(),
  closeOnSignals: z.boolean().optional(),
}) satisfies z.ZodType<unknown, StartInput>

/** The options of `start`. */
export interface StartInput {
  /** How many runs this worker executes at once. Default: as many as the queues allow. */
  readonly slots?: number | undefined
  /** The queues whose runs this worker executes. Default: all of them. */
  readonly queues?: readonly string[] | undefined
  /** Stops the worker when it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Whether SIGINT and SIGTERM close this Belfry. Default: false. */
  readonly closeOnSignals?: boolean | undefined
}

const stopInput = z.strictObject(
  durationFields('grace', 'How long running runs may take to end. Default: 25s.'),
) satisfies z.ZodType<unknown, StopInput>

/** The options of `stop`. */
export interface StopInput {
  /** How long runs in progress have to end, such as `25s`, before the worker stops them. Default: 25s. */
  readonly grace?: string | undefined
  /** The same as grace, in ms. */
  readonly graceMs?: number | undefined
}

const drainInput = z.strictObject(durationFields('for', 'Wait for runs that come due within this time. Default: none.'))

/** How far ahead a drain waits for runs that come due. */
export type DrainInput = z.input<typeof drainInput>

interface Parts {
  readonly store: Store
  readonly opening: Opening
}

/** The verbs of every noun, and the methods of the parts. */
export interface Belfry extends NounVerbs, PartMethods {}

/** A store that is open in this process, and the worker that this process may run. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every verb that the interface declares.
export class Belfry {
  readonly #store: Store
  readonly #injected: Clock | undefined
  readonly #found: string | null
  readonly #halt: Opening['halt']
  readonly #engine: Engine
  readonly #handlers: Handlers
  readonly #listeners: Listeners
  readonly #executors = new Map<string, Executor>()
  readonly #host: ExecutorHost
  #loaded: Promise<void> | null = null
  readonly #waits: Waits
  readonly #logger: Logger
  readonly #context: OperationContext
  readonly #events: Events
  readonly #secrets: SecretResolver
  readonly #doors: Begun[] = []
  #forgetSignals: (() => void) | null = null
  #closing: Promise<void> | null = null
  #isClosed = false
  #serverUrl: string | undefined

  /** Opens a store. Nothing is executed before `start`. */
  static async open(options: OpenOptions = {}): Promise<Belfry> {
    const opening = openingOf(options, process.env)
    const { namespace, schema, clock, connectionsMax, allowNonDurable, defaultMaxConcurrent } = opening
    const { found } = opening
    if (found !== null) refuseForeignStore(found, { from: dirname(dirname(found)), env: process.env })
    const storeOptions = { namespace, schema, clock, connectionsMax, allowNonDurable, defaultMaxConcurrent }
    const store = await openStore(opening.store, onlyGiven(storeOptions))
    try {
      if (clock !== undefined) await refuseBesideOthers(clock, store, null)
      return new Belfry({ store, opening })
    } catch (error) {
      await store.close()
      throw error
    }
  }

  private constructor({ store, opening }: Parts) {
    const clock = opening.clock ?? systemClock
    const events = new Events()
    const logger = loggerOf(opening.log)
    this.#logger = logger
    this.#store = store
    this.#injected = opening.clock
    this.#found = opening.found
    this.#halt = opening.halt
    this.#waits = new Waits({ store, clock, events })
    this.#events = events
    const context = contextOf({ store, opening, clock, waits: this.#waits, door: 'library', folder: process.cwd() })
    this.#context = context
    const open = () => {
      this.#refuseClosed()
      return context
    }
    Object.assign(
      this,
      bindNouns((operations) => bind(operations, open)),
      bindMethods((begin) => this.#begin(begin)),
    )
    this.#handlers = new Handlers(this.runs)
    logEvents(events, logger)
    this.#listeners = new Listeners(events, logger)
    const { network, secrets } = context.outgoing
    this.#secrets = secrets
    const { publicUrl } = opening
    const { leaseMs, renewMs, beatMs, pollMs, name } = opening
    const settings = settingsOf(onlyGiven({ leaseMs, renewMs, beatMs, pollMs }))
    this.#host = {
      store,
      secrets,
      killAfterMs: settings.killAfterMs,
      network,
      messageOf: messagesOf(publicUrl),
      serverUrl: () => this.#serverUrl,
      executeOf: (target) => executorOf(target, this.#executors)?.execute ?? null,
      tell: (event, facts) => events.tell(event as EventName, facts as never),
    }
    this.#executors.set(handlerKind.name, { kind: handlerKind, named: this.#handlers.executors })
    this.#engine = new Engine({
      store,
      clock,
      executors: this.#executors,
      events,
      coroner: coronerBy(clock),
      settings,
      parts,
      halt: opening.halt,
      ...onlyGiven({ name }),
    })
  }

  /** The store as it is shown to people. */
  get place(): string {
    return this.#store.place
  }

  /** Whether this process runs a worker. */
  get isRunning(): boolean {
    return this.#engine.isRunning
  }

  /** Registers the function that executes runs whose target names it; also while the worker runs. */
  handle<Payload = unknown, Result = unknown>(
    name: string,
    handle: Handler<Payload, Result>,
  ): HandlerReference<Payload, Result> {
    this.#refuseClosed()
    const handler = this.#handlers.add(name, handle)
    this.#engine.executorsChanged()
    return handler
  }

  /** Runs a worker in this process: it fires due schedules and executes runs. */
  async start(input: StartInput = {}): Promise<void> {
    this.#refuseClosed()
    await this.#prepare()
    const { closeOnSignals: closes, ...options } = readWhole(startInput, input, {
      subject: 'The start',
      noun: 'a start',
    })
    if (this.#injected !== undefined) await refuseBesideOthers(this.#injected, this.#store, this.#engine.workerId)
    // Before the start, so that a signal during the start does not end the process.
    if (closes === true) this.#forgetSignals ??= closeOnSignals(this, (error) => this.#logger.error(error))
    try {
      await this.#engine.start(onlyGiven(options))
    } catch (error) {
      this.#forgetSignals?.()
      this.#forgetSignals = null
      throw error
    }
  }

  /** Leases no more runs, lets running ones end within the grace, then stops and releases them. */
  async stop(input: StopInput = {}): Promise<void> {
    const { value, problems: found } = read(stopInput, input, 'a stop')
    const problems = [...found]
    const graceMs = durationOf(value, 'grace', problems)
    refuse('The stop', problems)
    await this.#engine.stop(onlyGiven({ graceMs }))
  }

  /**
   * Does everything that is due and resolves when it has ended; with `for`, also runs (retries, delayed ones) that come due within that
   * time. In tests, with a stopped clock, it does the work of one instant.
   */
  async drain(input: DrainInput = {}): Promise<void> {
    this.#refuseClosed()
    await this.#prepare()
    const { value, problems: found } = read(drainInput, input, 'a drain')
    const problems = [...found]
    const forMs = durationOf(value, 'for', problems)
    refuse('The drain', problems)
    await this.#engine.drain(onlyGiven({ forMs }))
  }

  /** The next instant at which something is due or a lease expires. */
  async nextInstant(): Promise<number | null> {
    this.#refuseClosed()
    const [{ scheduleAt, leaseExpiresAt }, { nextAt }] = await Promise.all([
      this.#store.look(nextInstants),
      this.#store.look(workAhead),
    ])
    const instants = [scheduleAt, leaseExpiresAt, nextAt].filter((at) => at !== null)
    return instants.length === 0 ? null : Math.min(...instants)
  }

  /** The verbs over HTTP as a function from requests to responses, to mount in your own server. */
  async handler(options: HandlerOptions = {}): Promise<(request: Request) => Promise<Response>> {
    this.#refuseClosed()
    const { handlerOf } = await import('./serving.ts')
    const door = handlerOf(options, this.#behind())
    this.#doors.push(door)
    return door.fetch
  }

  /** Serves HTTP at an address of this machine until it is closed. */
  async serve(options: ServeOptions = {}): Promise<Served> {
    this.#refuseClosed()
    const { served } = await import('./serving.ts')
    const serving = await served(options, this.#behind())
    this.#doors.push(serving)
    this.#serverUrl = serving.url
    return serving
  }

  async #begin(begin: (behind: Behind) => Promise<Begun>): Promise<void> {
    this.#refuseClosed()
    this.#doors.push(await begin(this.#behind()))
  }

  #behind(): Behind {
    const secretOf = async (reference: object) => String((await this.#secrets.resolve(reference)).value)
    const around = { clock: this.#injected ?? systemClock, injected: this.#injected, halt: this.#halt }
    const openPrivate = async () => (await import('./library/private-store.ts')).openPrivate(around)
    return { context: this.#context, events: this.#events, secretOf, openPrivate }
  }

  /** Stops the worker and closes the store. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      // Closes the doors first: an answer that a caller receives must still be true.
      await Promise.all(this.#doors.splice(0).map((door) => door.close()))
      await this.#engine.stop()
    } finally {
      this.#isClosed = true
      this.#forgetSignals?.()
      this.#waits.close()
      for (const { close } of this.#executors.values()) await close?.()
      await this.#store.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Listens for every event of this name. An error of a listener is logged, and does not affect others. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): this {
    this.#listeners.on(name, listener)
    return this
  }

  /** Listens for the next event of this name. */
  once<Name extends EventName>(name: Name, listener: Listener<Name>): this {
    this.#listeners.once(name, listener)
    return this
  }

  off<Name extends EventName>(name: Name, listener: Listener<Name>): this {
    this.#listeners.off(name, listener)
    return this
  }

  /**
   * A program that names its store has chosen the store; one that was found in the folder may have come with a checked-out tree. Executors
   * are loaded only when something is executed.
   */
  async #prepare(): Promise<void> {
    if (this.#found !== null) await refuseUnmarkedStore(this.#found)
    this.#loaded ??= this.#load()
    await this.#loaded
  }

  async #load(): Promise<void> {
    for (const kind of kinds) {
      if (kind.executor !== undefined) this.#executors.set(kind.name, { kind, ...(await kind.executor(this.#host)) })
    }
  }

  #refuseClosed(): void {
    if (!this.#isClosed) return
    throw new BelfryError('unavailable', 'This Belfry is closed.', { hint: 'Open another.' })
  }
}

function coronerBy(clock: Clock) {
  const own = ownIdentity()
  return {
    isDead: ({ process }: { process: Parameters<typeof isProvenDead>[0] | null }) =>
      process !== null && isProvenDead(process, own),
    endLeftovers: (leases: Parameters<typeof endLeftovers>[0]) => endLeftovers(leases, { clock }),
  }
}
