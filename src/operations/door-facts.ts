import type { Clock } from '../core/clock.ts'
import type { AnyOperation } from './operation.ts'
import type { OperationContext } from './operation-context.ts'
import type { Show } from './show.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Calls a verb on a store or a server. */
export type Ask = <Op extends AnyOperation>(operation: Op, input: unknown) => Promise<Awaited<ReturnType<Op['call']>>>

type Given = Readonly<Record<string, unknown>>

/** A piece of an attempt's output. */
export interface Piece {
  readonly attempt: number
  readonly text: string
}

/** Facts for single doors. No door keeps its own table of verbs. */
export interface DoorFacts<Answer> {
  /** Whether a second call with the same input changes nothing more. */
  readonly idempotent?: true
  /**
   * The HTTP method, for a verb that has the path of the resource itself: `GET /api/schedules/{name}`, and POST creates a schedule. Without
   * it the verb is the last segment: `POST /api/schedules/{name}/pause`.
   */
  readonly method?: Method
  /** For a verb without an HTTP route of its own: makes the call out of calls of other verbs. */
  compose?(ask: Ask, input: unknown, signal?: AbortSignal): Promise<NoInfer<Answer>>
  /** The description for models, when it is in the default tool set. */
  readonly defaultTool?: string
  /** The verb as a tool for models: its name, where that is not noun and verb, and its tool sets besides that of its noun. */
  readonly tool?: { readonly name?: string; readonly sets?: readonly string[] }
  /** Fields that a model may give only with the scope admin. */
  readonly adminFields?: readonly string[]
  /** The verb that documents the same fields, so that a model reads them once: one of its noun, or `noun.verb`. */
  readonly fieldsAs?: string
  /** Refuses an impossible destructive call before a person is asked to confirm it. A dry run does it where there is one. */
  precheck?(context: OperationContext, input: Given): Promise<unknown>
  /** Whether it may be the first command on a store, and creates the store. */
  readonly begins?: true
  /** Whether its first argument may be the word `all`, for which the flag `--all` stands at the command line. */
  readonly takesAll?: true
  /** Whether the command line asks for confirmation. */
  readonly asksFirst?: true
  /** Whether it waits for work, so that a missing worker is reported first. */
  readonly waits?: true
  /** Whether its answer already says whether a worker is alive. */
  readonly namesWorkers?: true
  /** How its answer is printed for a person; JSON without it. */
  readonly show?: Show<unknown>
  /** Whether the command exits with 0 after this answer, else with 1. */
  isOk?(answer: NoInfer<Answer>): boolean
  /**
   * Recognises an argument for which the last word of the command may be left out: `explain r-11`
   * means `explain run r-11`.
   */
  readonly meantBy?: RegExp
  /** Streams output as it comes, and answers with a sentence about its end. */
  follow?(ask: Ask, input: Given, clock: Clock): AsyncGenerator<Piece, string>
}
