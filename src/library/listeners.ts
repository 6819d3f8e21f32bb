import type { Logger } from 'pino'
import type { EngineEvents, EventName, Events } from '../engine/events.ts'
import { nearest } from '../operations/input/nearest-name.ts'
import { isShown, type Problem, refuse } from '../operations/input/refuse-input.ts'
import { lines } from './log.ts'

export type Listener<Name extends EventName> = (event: EngineEvents[Name]) => unknown

type Heard = (event: never) => void

/**
 * The program's own listeners. What one of them throws, or what its promise is rejected with, is told in the log and
 * goes no further: the worker must not stumble over somebody who only watches it.
 */
export class Listeners {
  readonly #events: Events
  readonly #logger: Logger
  /** What was put in place of each listener, for each event, as often as it listens. */
  readonly #heard = new Map<EventName, Map<Listener<never>, Heard[]>>()

  constructor(events: Events, logger: Logger) {
    this.#events = events
    this.#logger = logger
    // Many parts of a program may each watch something; that is no leak.
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

  /** Ends what `on` or `once` began last with this listener. */
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
      // Most listeners answer nothing, and there may be tens of thousands of events a second.
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

/** What nobody ever tells would be listened for in vain, and what cannot be called would fail when it is too late. */
function problemsOf(name: unknown, listener: unknown): Problem[] {
  const problems: Problem[] = []
  if (typeof name !== 'string' || !names.includes(name)) {
    const meant = typeof name === 'string' ? nearest(name, names) : undefined
    const expected = meant === undefined ? `one of ${names.join(', ')}` : `${meant}, if that was meant`
    problems.push({ field: 'event', problem: `${isShown(name)}, which is no event`, expected })
  }
  if (typeof listener !== 'function') {
    const problem = listener === undefined ? 'is missing' : isShown(listener)
    problems.push({ field: 'listener', problem, expected: 'a function that takes the event' })
  }
  return problems
}
