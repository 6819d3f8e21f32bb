import type { Events } from '../engine/events.ts'
import type { OperationContext } from '../operations/operation-context.ts'

/** What a method of a part works with. */
export interface Behind {
  readonly context: OperationContext
  readonly events: Events
  /** What a reference to a secret stands for, looked up anew each time. */
  readonly secretOf: (reference: { readonly secret: string }) => Promise<string>
}

/** What a method has begun, and what is closed together with the library. */
export interface Begun {
  close(): void | Promise<void>
}

/** What a part brings to the library besides its verbs. */
export interface LibraryPart {
  /** Methods of a `Belfry`: each is called with what stands behind it, and with what the program gave. */
  // biome-ignore lint/suspicious/noExplicitAny: what a program gives to a method is the method's own matter.
  readonly methods?: Readonly<Record<string, (behind: Behind, ...given: any[]) => Promise<Begun>>>
}
