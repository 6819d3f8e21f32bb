import type { Ask } from './door-facts.ts'
import type { AnyOperation } from './operation.ts'

/** The input of a call and its answer. */
export interface Answered {
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: unknown
}

/** A resource that a model may read without a tool call. */
export interface Resource {
  readonly operation: AnyOperation
  readonly name: string
  readonly title: string
  readonly description: string
}

/** Verbs that a part adds to a noun described elsewhere. */
export interface MoreVerbs {
  readonly operations: Readonly<Record<string, AnyOperation>>
  /** Words from other tools, as typed after `belfry`, with the command that each one means. */
  readonly otherWords?: Readonly<Record<string, string>>
  /** Command words that are no nouns but have commands under them, each with a line of help. */
  readonly groups?: Readonly<Record<string, string>>
}

/**
 * A method of a noun that combines its verbs. The library and the client have it where a single verb is
 * inconvenient.
 */
export interface ComposedMethod {
  readonly says: string
  // biome-ignore lint/suspicious/noExplicitAny: what a method makes of its verbs is its own matter.
  of(verbs: any): (...given: any[]) => unknown
}

export interface NounEntry extends MoreVerbs {
  readonly says: string
  readonly plural: string
  /** The list, and one item by its name or id. */
  readonly resources?: readonly Resource[]
  readonly composes?: Readonly<Record<string, ComposedMethod>>
  /** The time zone in which the instants of an answer are shown; null: the reader's own. */
  zone?(ask: Ask, answered: Answered): Promise<string | null>
}
