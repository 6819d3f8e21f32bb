import type { Logger } from 'pino'
import type { EngineEvents, EventName, Events } from '../engine/events.ts'

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
    this.#add(name, listener, (event) => {
      this.off(name, listener)
      this.#call(name, listener, event)
    })
  }

  /** Ends what `on` or `once` began last with this listener. */
  off<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    const ofName = this.#heard.get(name)
    const heard = ofName?.get(listener)?.pop()
    if (heard !== undefined) this.#events.off(name, heard as never)
    if (ofName?.get(listener)?.length === 0) ofName.delete(listener)
  }

  #add<Name extends EventName>(name: Name, listener: Listener<Name>, heard: (event: EngineEvents[Name]) => void): void {
    const ofName = this.#heard.get(name) ?? new Map<Listener<never>, Heard[]>()
    this.#heard.set(name, ofName)
    ofName.set(listener, [...(ofName.get(listener) ?? []), heard])
    this.#events.on(name, heard as never)
  }

  async #call<Name extends EventName>(name: Name, listener: Listener<Name>, event: EngineEvents[Name]): Promise<void> {
    try {
      await listener(event)
    } catch (error) {
      this.#logger.error({ event: 'listener.failed', of: name, error }, `A listener of ${name} threw.`)
    }
  }
}
