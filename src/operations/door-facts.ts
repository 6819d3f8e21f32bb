import type { Clock } from '../core/clock.ts'
import type { AnyOperation } from './operation.ts'
import type { OperationContext } from './operation-context.ts'
import type { Show } from './show.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Calls a verb where it is answered: on a store, or by a server. */
export type Ask = <Op extends AnyOperation>(operation: Op, input: unknown) => Promise<Awaited<ReturnType<Op['call']>>>

type Given = Readonly<Record<string, unknown>>

/** A piece of what an attempt puts out. */
export interface Piece {
  readonly attempt: number
  readonly text: string
}

/** What single doors know of a verb. No door keeps a table of verbs of its own. */
export interface DoorFacts<Answer> {
  /** Whether a second call with the same input changes nothing more. */
  readonly idempotent?: true
  /**
   * The HTTP method by which this verb is the resource itself: `GET /api/schedules/{name}`, and POST makes one. Without it the verb
   * is the last part of the path: `POST /api/schedules/{name}/pause`.
   */
  readonly method?: Method
  /** Makes the verb of requests that have a route, where it has none of its own. */
  compose?(ask: Ask, input: unknown, signal?: AbortSignal): Promise<NoInfer<Answer>>
  /** How a model is told of it, where it is among the tools that every model is offered. */
  readonly defaultTool?: string
  /** Fields that a model may give only with the scope admin. */
  readonly adminFields?: readonly string[]
  /** The verb of its noun that explains the same fields, so that a model reads them once. */
  readonly fieldsAs?: string
  /** Refuses a destructive call that cannot be done, before a model is asked to confirm it. A rehearsal does it where there is one. */
  precheck?(context: OperationContext, input: Given): Promise<unknown>
  /** Whether it may be the first command on a store, and makes it. */
  readonly begins?: true
  /** Whether the command line asks a person first. */
  readonly asksFirst?: true
  /** Whether it waits for work to be done, so that a missing worker is named before it waits. */
  readonly waits?: true
  /** Whether its answer says whether a worker runs. */
  readonly namesWorkers?: true
  /** How its answer is shown to a person. Without it the answer is printed as JSON. */
  readonly show?: Show<unknown>
  /** Whether the command exits with 0 after this answer; 1 where it does not. */
  isOk?(answer: NoInfer<Answer>): boolean
  /** What the verb is meant by where its command lacks its last word: `explain r-11` is `explain run r-11`. */
  readonly meantBy?: RegExp
  /** Hands on what is put out as it comes, and answers with a sentence about its end. */
  follow?(ask: Ask, input: Given, clock: Clock): AsyncGenerator<Piece, string>
}
