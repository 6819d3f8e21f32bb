import { isInForce } from '../../../core/hold.ts'
import { holdSentence, kernelHoldReasons } from '../../../core/hold-reason.ts'
import type { OperationContext, PrivateStore } from '../../../operations/operation-context.ts'
import { liftHolds } from '../../../store/holds/lift-hold.ts'
import { listHolds } from '../../../store/holds/list-holds.ts'
import { putHold } from '../../../store/holds/put-hold.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { inboxQueue } from './inbox-queue.ts'
import { inboxKind } from './kind.ts'
import { greetSession } from './take-message.ts'

/** How often the switches of the store are read while the session has tasks of its own. A take always reads them first. */
const lookMs = 5_000

/** A stop of agents also stops the session's own tasks: they are prompts for an agent. */
const stoppedKinds = ['agent', inboxKind.name]
const stoppedQueues = ['agents', inboxQueue]

/** The sessions that processes serve. An audited or rehearsed call has another store, but the same `waits`. */
const served = new WeakMap<OperationContext['waits'], ServedSession>()

/** The session that this process serves. */
export function servedSession({ waits }: Pick<OperationContext, 'waits'>): ServedSession | undefined {
  return served.get(waits)
}

/**
 * A session that one process serves, with the tasks that live as long as the session. The tasks are in a store of their own, in memory,
 * which nothing outside this process can read. The first task opens this store.
 */
export class ServedSession {
  readonly id: string
  readonly project: string
  readonly #openPrivate: () => Promise<PrivateStore>
  readonly #messages = new Set<string>()
  #opening: Promise<PrivateStore> | null = null
  #own: PrivateStore | null = null
  #cancelLook: (() => void) | null = null
  #isClosed = false
  #heldUntil = 0

  constructor({ id, project, openPrivate }: Pick<ServedSession, 'id' | 'project'> & OpensPrivate) {
    this.id = id
    this.project = project
    this.#openPrivate = openPrivate
  }

  /** From now on, calls on this store are calls of the session. */
  serve({ waits }: Pick<OperationContext, 'waits'>): void {
    served.set(waits, this)
  }

  /** The caller's context on the session's own store; null while the session has no task. */
  opened(context: OperationContext): OperationContext | null {
    if (this.#own === null) return null
    const { store, waits } = this.#own
    return { ...context, waits, store: context.store.isRehearsal === true ? store.rehearsal() : store }
  }

  /** The caller's context on the session's own store, which is opened if necessary. */
  async open(context: OperationContext): Promise<OperationContext> {
    this.#opening ??= this.#openPrivate()
    this.#own = await this.#opening
    this.#cancelLook ??= this.#lookLater(context)
    await this.look(context)
    return this.opened(context) as OperationContext
  }

  /** Holds the own store while a switch of the shared store is thrown, and counts the session as live. */
  async look({ store, holdReasons }: Pick<OperationContext, 'store' | 'holdReasons'>): Promise<void> {
    if (this.#own === null) return
    const now = await store.look(clockNow)
    const hold = (await store.look(listHolds)).find(
      ({ scope, subject, from, until }) =>
        isInForce({ from, until }, now) &&
        (scope === 'namespace' ||
          (scope === 'kind' && stoppedKinds.includes(subject.split('/')[0] ?? '')) ||
          (scope === 'queue' && stoppedQueues.includes(subject))),
    )
    const note = hold === undefined ? null : holdSentence(hold, holdReasons)
    await this.#own.store.do(followSwitch, note)
    await this.#own.store.do(greetSession, { session: this.id, project: null })
  }

  /** Until when the session holds a message of the shared store. */
  get heldUntil(): number {
    return this.#heldUntil
  }

  holds(until: number): void {
    this.#heldUntil = until
  }

  /** The session has ended the message that it held. */
  mayTake(): void {
    this.#heldUntil = 0
  }

  /** Whether a message came from the own store. */
  isOwn(message: string): boolean {
    return this.#messages.has(message)
  }

  handed(message: string): void {
    this.#messages.add(message)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelLook?.()
    await (await this.#opening?.catch(() => null))?.close()
  }

  #lookLater(context: OperationContext): () => void {
    return context.clock.after(lookMs, () => {
      const again = () => {
        if (!this.#isClosed) this.#cancelLook = this.#lookLater(context)
      }
      // If the store does not answer now, it is read again; a take fails until it answers.
      this.look(context).then(again, again)
    })
  }
}

interface OpensPrivate {
  readonly openPrivate: () => Promise<PrivateStore>
}

const reason = kernelHoldReasons.stopped
const actor = { name: 'belfry', door: 'session' }

/** Puts the hold on everything, or lifts it. */
function* followSwitch(context: StoreContext, note: string | null): Step<void> {
  const now = yield* clockNow()
  const isHeld = (yield* listHolds(context)).some((hold) => hold.reason === reason.code && isInForce(hold, now))
  if (isHeld === (note !== null)) return
  const everything = { scope: 'namespace', subject: '' } as const
  if (note === null) yield* liftHolds(context, { ...everything, reason: reason.code }, { actor })
  else yield* putHold(context, { ...everything, reason, note: note.slice(0, 200), actor })
}
