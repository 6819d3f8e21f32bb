import type { Logger } from 'pino'
import type { EngineEvents, EventName, Events } from '../engine/events.ts'
import { nearest } from '../operations/input/nearest-name.ts'
import { isShown, type Problem, refuse } from '../operations/input/refuse-input.ts'
import { lines } from './log.ts'

export type Listener<Name extends EventName> = (event: EngineEvents[Name]) => unknown

type Heard = (event: never) => void

/**
 * The program's own listeners. An error that one throws, or a rejected promise, is logged and goes no further: a listener must
 * not disturb the worker.
 */
export class Listeners {
  readonly #events: Events
  readonly #logger: Logger
  /** The wrappers of each listener, per event: one for each registration. */
  readonly #heard = new Map<EventName, Map<Listener<never>, Heard[]>>()

  constructor(events: Events, logger: Logger) {
    this.#events = events
    this.#logger = logger
    // Many parts of a program may each listen; that is not a leak.
    events.setMaxListeners(0)
  }

  on<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    this.#add(name, listener, (event) => this.#call(name, listener, event))
  }

  once<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    const hear = (event: EngineEvents[Name]) => {
      this.#remove(name, listener, hear)
      this.#call(name, listener, event)
    }
    this.#add(name, listener, hear)
  }

  /** Removes the last registration of this listener by `on` or `once`. */
  off<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    refuse('The listener', problemsOf(name, listener))
    const last = this.#heard.get(name)?.get(listener)?.at(-1)
    if (last !== undefined) this.#remove(name, listener, last)
  }

  #add<Name extends EventName>(name: Name, listener: Listener<Name>, heard: (event: EngineEvents[Name]) => void): void {
    refuse('The listener', problemsOf(name, listener))
    const ofName = this.#heard.get(name) ?? new Map<Listener<never>, Heard[]>()
    this.#heard.set(name, ofName)
    ofName.set(listener, [...(ofName.get(listener) ?? []), heard])
    this.#events.on(name, heard as never)
  }

  #remove<Name extends EventName>(name: Name, listener: Listener<Name>, heard: Heard): void {
    const ofName = this.#heard.get(name)
    const left = ofName?.get(listener)?.filter((each) => each !== heard) ?? []
    if (left.length > 0) ofName?.set(listener, left)
    else ofName?.delete(listener)
    this.#events.off(name, heard as never)
  }

  #call<Name extends EventName>(name: Name, listener: Listener<Name>, event: EngineEvents[Name]): void {
    try {
      const answer = listener(event)
      // Most listeners return nothing, and there may be tens of thousands of events a second.
      if (answer !== undefined) Promise.resolve(answer).catch((error) => this.#failed(name, error))
    } catch (error) {
      this.#failed(name, error)
    }
  }

  #failed(name: EventName, error: unknown): void {
    this.#logger.error({ event: 'listener.failed', of: name, error }, `A listener of ${name} threw.`)
  }
}

const names = Object.keys(lines)

/** An unknown event would never come, and a listener that is no function would fail too late. */
function problemsOf(name: unknown, listener: unknown): Problem[] {
  const problems: Problem[] = []
  if (typeof name !== 'string' || !names.includes(name)) {
    const meant = typeof name === 'string' ? nearest(name, names) : undefined
    const expected = meant === undefined ? `one of ${names.join(', ')}` : `${meant}, if that was meant`
    problems.push({ field: 'event', problem: `${isShown(name)}, which is not an event`, expected })
  }
  if (typeof listener !== 'function') {
    const problem = listener === undefined ? 'is missing' : isShown(listener)
    problems.push({ field: 'listener', problem, expected: 'a function that takes the event' })
  }
  return problems
}
