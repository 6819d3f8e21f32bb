import type { Events } from '../engine/events.ts'
import type { OperationContext, PrivateStore } from '../operations/operation-context.ts'

/** What a method of a part works with. */
export interface Behind {
  readonly context: OperationContext
  readonly events: Events
  /** The value of a secret reference, looked up at each call. */
  readonly secretOf: (reference: { readonly secret: string }) => Promise<string>
  /** Opens a private store; its caller closes it. */
  readonly openPrivate: () => Promise<PrivateStore>
}

/** Something that a method has started; it is closed together with the library. */
export interface Begun {
  close(): void | Promise<void>
}

/** What a part adds to the library besides its verbs. */
export interface LibraryPart {
  /** Methods of a `Belfry`: each receives its `Behind`, and the program's arguments. */
  // biome-ignore lint/suspicious/noExplicitAny: what a program gives to a method is the method's own matter.
  readonly methods?: Readonly<Record<string, (behind: Behind, ...given: any[]) => Promise<Begun>>>
}
