import type pg from 'pg'
import { BelfryError } from '../../core/error.ts'
import type { Row } from '../statement.ts'
import { busyServer, isBusyServer, isConflict, isRefusal } from './refusal.ts'

/** Anything with the interface of a `pg` client. */
export interface Connection {
  query(config: Query & { types: pg.CustomTypesConfig }): Promise<{ rows: Row[] }>
}

export interface Query {
  readonly text: string
  readonly name?: string
  readonly values?: unknown[]
}

export interface TalkOptions {
  /** The store's name for people. */
  readonly place: string
  readonly types: pg.CustomTypesConfig
  /** The statement that begins the transaction; `null` in a caller's transaction, whose connection may not support pipelining. */
  readonly begin: string | null
  /** Everything is rolled back at the end, so nothing may be committed before. */
  readonly isRehearsal?: boolean
  readonly isLook?: boolean
}

/** A statement that was sent; its rows can be awaited later. */
export interface SentQuery {
  rows(): Promise<Row[]>
}

/**
 * The statements of one transaction. Each awaited answer costs a round trip, and round trips limit the throughput. So `begin` is
 * sent with the first statement, a statement whose rows are not read with the next one, and the last one with the commit. The
 * server still executes them one after the other, each with its own snapshot, and none after one that failed.
 */
export class Talk {
  readonly #connection: Connection
  readonly #options: TalkOptions
  #hasBegun = false
  #hasWritten = false
  /** Sent and not yet answered. */
  #sent: Promise<unknown>[] = []

  constructor(connection: Connection, options: TalkOptions) {
    this.#connection = connection
    this.#options = options
  }

  async ask(query: Query): Promise<Row[]> {
    this.#begin()
    return this.#answered(this.#send(query))
  }

  /** Sends the statement without waiting: if it fails, the next awaited answer fails. */
  async tell(query: Query): Promise<SentQuery> {
    this.#begin()
    const answer = handled(this.#send(query))
    if (this.#options.begin === null) await this.#answered(answer)
    else this.#sent.push(answer)
    // An answer that arrived meanwhile is returned without waiting for later statements.
    return { rows: async () => (this.#sent.includes(answer) ? this.#answered(answer) : (await answer).rows) }
  }

  /**
   * The last statement of a transaction, sent together with its commit: a process that stops while it waits for the answer keeps
   * no lock. A later statement begins another transaction.
   */
  async askLast(query: Query): Promise<Row[]> {
    const { begin, isRehearsal = false } = this.#options
    if (begin === null || isRehearsal) return this.ask(query)
    this.#begin()
    const answer = handled(this.#send(query))
    this.#sent.push(answer)
    await this.#committed()
    return (await answer).rows
  }

  /** A statement that is its own transaction, if none was sent before. */
  async askAlone(query: Query): Promise<Row[]> {
    const { begin, isRehearsal = false } = this.#options
    if (this.#hasBegun || begin === null || isRehearsal) return this.ask(query)
    const answer = this.#send(query)
    if (!this.#hasWritten) return this.#answered(answer)
    try {
      return (await answer).rows
    } catch (error) {
      throw this.#afterCommit(error)
    }
  }

  async commit(): Promise<void> {
    if (!this.#hasBegun) return
    // A transaction that only read and locked has nothing to commit, and need not wait for the disk.
    if (!this.#hasWritten) return this.rollBack()
    await this.#committed()
  }

  async #committed(): Promise<void> {
    const sent = [...this.#sent, this.#send({ text: 'commit' })]
    this.#sent = []
    this.#hasBegun = false
    this.#hasWritten = false
    try {
      await Promise.all(sent)
    } catch (error) {
      throw this.#afterCommit(error)
    }
  }

  async rollBack(): Promise<void> {
    if (this.#hasBegun) await this.#answered(this.#send({ text: 'rollback' }))
  }

  #begin(): void {
    const { begin } = this.#options
    if (this.#hasBegun || begin === null) return
    this.#hasBegun = true
    this.#sent.push(handled(this.#connection.query({ text: begin, types: this.#options.types })))
  }

  #send(query: Query): Promise<{ rows: Row[] }> {
    this.#hasWritten ||= this.#options.isLook !== true && !isLook(query.text)
    return this.#connection.query({ ...query, types: this.#options.types })
  }

  /** A connection that breaks before the commit is a definite "no": the server rolls back. */
  async #answered(last: Promise<{ rows: Row[] }>): Promise<Row[]> {
    const before = this.#sent
    this.#sent = []
    try {
      // Of several failures the first has the cause; the others only follow from it.
      await Promise.all(before.concat(last))
      return (await last).rows
    } catch (error) {
      if (isRefusal(error)) throw this.#refusal(error)
      throw new BelfryError(
        'unavailable',
        `${this.#options.place} broke off: ${(error as Error).message}; nothing was written.`,
        {
          hint: 'Check that the server runs; Belfry then continues by itself.',
          cause: error,
        },
      )
    }
  }

  #refusal(error: unknown): unknown {
    return isBusyServer(error) ? busyServer(this.#options.place, error as Error) : error
  }

  /** Once the commit is sent, only an explicit refusal means that it did not happen. */
  #afterCommit(error: unknown): unknown {
    if (isConflict(error) || isRefusal(error)) return this.#refusal(error)
    return new BelfryError(
      'commit-unknown',
      `The commit to ${this.#options.place} broke off and may or may not have taken effect.`,
      {
        hint: 'Read the current state before trying again.',
        cause: error,
      },
    )
  }
}

function isLook(text: string): boolean {
  return /^\s*(select|begin|rollback|commit)\b/i.test(text)
}

/** Marks a promise as handled, because another caller awaits it, or no caller does. */
function handled<Answer>(answer: Promise<Answer>): Promise<Answer> {
  answer.catch(() => undefined)
  return answer
}
