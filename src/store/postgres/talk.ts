import type pg from 'pg'
import { BelfryError } from '../../core/error.ts'
import type { Row } from '../statement.ts'
import { busyServer, isBusyServer, isConflict, isRefusal } from './refusal.ts'

/** Anything that speaks like a `pg` client. */
export interface Connection {
  query(config: Query & { types: pg.CustomTypesConfig }): Promise<{ rows: Row[] }>
}

export interface Query {
  readonly text: string
  readonly name?: string
  readonly values?: unknown[]
}

export interface TalkOptions {
  /** Names the store for people. */
  readonly place: string
  readonly types: pg.CustomTypesConfig
  /** What begins the transaction; `null` where it is the caller's, whose connection may not like to be sent ahead. */
  readonly begin: string | null
  /** Everything is taken back at the end, so nothing may be committed before. */
  readonly isRehearsal?: boolean
  /** It only reads. */
  readonly isLook?: boolean
}

/** A statement that was sent, whose rows can be waited for when they are wanted. */
export interface SentQuery {
  rows(): Promise<Row[]>
}

/**
 * One transaction's talk with the server. Each answer that is waited for costs a round trip, and there are as many of
 * these in a second as there are: so the beginning travels with the first statement, a statement whose rows are not read
 * travels with the one that follows, and the last of them with the commit. The server does them one after the other all
 * the same, each with a snapshot of its own, and after one that failed it does none.
 */
export class Talk {
  readonly #connection: Connection
  readonly #options: TalkOptions
  #hasBegun = false
  #hasWritten = false
  /** What was sent and not yet answered. */
  #sent: Promise<unknown>[] = []

  constructor(connection: Connection, options: TalkOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Waits for the rows. */
  async ask(query: Query): Promise<Row[]> {
    this.#begin()
    return this.#answered(this.#send(query))
  }

  /** Does not wait: if it failed, whatever is waited for next fails. */
  async tell(query: Query): Promise<SentQuery> {
    this.#begin()
    const answer = handled(this.#send(query))
    if (this.#options.begin === null) await this.#answered(answer)
    else this.#sent.push(answer)
    // What was waited for meanwhile is there, and what was sent since then is not waited for.
    return { rows: async () => (this.#sent.includes(answer) ? this.#answered(answer) : (await answer).rows) }
  }

  /**
   * The last statement of a transaction, sent together with its commit: a process that is stopped while it waits for the
   * answer keeps no lock. What is asked after it begins another transaction.
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

  /** One statement that is a transaction by itself, as long as nothing was said before. */
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
    // What only read and locked has nothing to commit, and need not wait for the disk to be let go.
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

  /** A broken connection before the commit is a plain "no": the server rolls back what it was never told to commit. */
  async #answered(last: Promise<{ rows: Row[] }>): Promise<Row[]> {
    const before = this.#sent
    this.#sent = []
    try {
      // Of several that failed the first tells why; the others only tell that one did.
      await Promise.all(before.concat(last))
      return (await last).rows
    } catch (error) {
      if (isRefusal(error)) throw this.#refusal(error)
      throw new BelfryError(
        'unavailable',
        `${this.#options.place} broke off: ${(error as Error).message}; nothing was written.`,
        {
          hint: 'Look whether the server runs; work goes on by itself once it does.',
          cause: error,
        },
      )
    }
  }

  #refusal(error: unknown): unknown {
    return isBusyServer(error) ? busyServer(this.#options.place, error as Error) : error
  }

  /** Once the commit is on its way, only a server that says "no" has not done it. */
  #afterCommit(error: unknown): unknown {
    if (isConflict(error) || isRefusal(error)) return this.#refusal(error)
    return new BelfryError(
      'commit-unknown',
      `The commit to ${this.#options.place} broke off and may or may not have taken effect.`,
      {
        hint: 'Ask the store what it holds before trying again.',
        cause: error,
      },
    )
  }
}

function isLook(text: string): boolean {
  return /^\s*(select|begin|rollback|commit)\b/i.test(text)
}

/** Another caller waits for it, or none does any more. */
function handled<Answer>(answer: Promise<Answer>): Promise<Answer> {
  answer.catch(() => undefined)
  return answer
}
