import { systemClock } from '../../../core/clock.ts'
import type { Verbs } from '../../../operations/bind.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import type { ComposedMethod } from '../../../operations/noun.ts'
import type { inboxOperations } from './inbox-verbs.ts'
import type { Message } from './message-answer.ts'

/** Which messages a program takes. */
export interface MessagesInput {
  /** The session, by an id that the program chooses. Default: a new session. */
  readonly session?: string | undefined
  /** A folder of the session's project. Default: the current folder; over HTTP none. */
  readonly project?: string | undefined
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
}

/** A message that a program holds. */
export interface HandedMessage extends Message {
  readonly session: string
  /** Acknowledges the message: it is delivered, and is not handed over again. */
  ack(): Promise<void>
  /** Reports the outcome of the message. */
  done(result?: unknown): Promise<void>
}

type InboxVerbs = Pick<Verbs<typeof inboxOperations>, 'next' | 'ack' | 'renew' | 'done'>

const wait = '50s'
/** A third of the time for which a message is held. */
const renewMs = 100_000

/**
 * The messages of a session, one after the other. A message is held while the loop works on it, and acknowledged when the loop asks for the
 * next one. A loop that ends by `break` or by an error leaves its last message unacknowledged, unless the program called `ack` or `done`.
 */
async function* streamed(
  verbs: InboxVerbs,
  { session, project, signal }: MessagesInput,
): AsyncGenerator<HandedMessage> {
  let named = session
  while (signal?.aborted !== true) {
    const asked = onlyGiven({ session: named, project, wait })
    const answer = await untilAborted(verbs.next(asked, onlyGiven({ signal })), signal)
    if (answer === null) return
    named = answer.session
    if (answer.message === null) continue
    const held = new HeldMessage(verbs, answer.message.id)
    try {
      yield { ...answer.message, session: named, ack: () => held.ack(), done: (result) => held.done(result) }
      if (!held.isEnded) await held.ack()
    } finally {
      held.letGo()
    }
  }
}

async function untilAborted<Answer>(asked: Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer | null> {
  try {
    return await asked
  } catch (error) {
    if (signal?.aborted === true) return null
    throw error
  }
}

class HeldMessage {
  readonly #verbs: InboxVerbs
  readonly #message: string
  #cancelRenewal: (() => void) | null = null
  #isLetGo = false
  isEnded = false

  constructor(verbs: InboxVerbs, message: string) {
    this.#verbs = verbs
    this.#message = message
    this.#renewLater()
  }

  async ack(): Promise<void> {
    await this.#end(() => this.#verbs.ack({ message: this.#message }))
  }

  async done(result?: unknown): Promise<void> {
    await this.#end(() => this.#verbs.done({ message: this.#message, ...onlyGiven({ result }) }))
  }

  letGo(): void {
    this.#isLetGo = true
    this.#cancelRenewal?.()
  }

  async #end(act: () => Promise<unknown>): Promise<void> {
    this.letGo()
    await act()
    this.isEnded = true
  }

  #renewLater(): void {
    this.#cancelRenewal = systemClock.after(renewMs, () => {
      // A message that could not be renewed is handed over again. Its acknowledgement is then refused, with that reason.
      this.#verbs.renew({ message: this.#message }).then(
        () => this.#isLetGo || this.#renewLater(),
        () => undefined,
      )
    })
  }
}

export const messages = {
  says: 'The messages of a session, one after the other; each is acknowledged when the loop asks for the next.',
  of:
    (verbs: InboxVerbs) =>
    (input: MessagesInput = {}) =>
      streamed(verbs, input),
} satisfies ComposedMethod
