import type { Ask } from './door-facts.ts'
import type { AnyOperation } from './operation.ts'

/** What a call was made with, and what it answered. */
export interface Answered {
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: unknown
}

/** What a model may read without calling a tool. */
export interface Resource {
  readonly operation: AnyOperation
  readonly name: string
  readonly title: string
  readonly description: string
}

/** Verbs that a part adds to a noun which is described elsewhere. */
export interface MoreVerbs {
  readonly operations: Readonly<Record<string, AnyOperation>>
  /** Words that people know from other tools, as they are typed behind `belfry`, and the command that is meant. */
  readonly otherWords?: Readonly<Record<string, string>>
  /** The words of its commands that are no nouns and have commands under them, each with a line of help. */
  readonly groups?: Readonly<Record<string, string>>
}

/** A noun with its verbs. */
export interface NounEntry extends MoreVerbs {
  readonly says: string
  /** The property of the library. */
  readonly plural: string
  /** Its list, and one of them by its name or id. */
  readonly resources?: readonly Resource[]
  /** The time zone in which the instants of an answer are shown; null where it is the reader's own. */
  zone?(ask: Ask, answered: Answered): Promise<string | null>
}
