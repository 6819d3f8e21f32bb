import type { Hono } from 'hono'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { Authenticator } from './authenticator.ts'

/** What the server passes to a part's own routes. */
export interface PartDoor {
  readonly context: OperationContext
  readonly gate: Authenticator
  /** Resolves references to secrets. */
  readonly secretOf?: ((reference: { readonly secret: string }) => Promise<string>) | undefined
  /** Receives unexpected errors. */
  readonly onUnforeseen?: ((error: unknown) => void) | undefined
}

export type AddRoutes = (app: Hono, door: PartDoor) => void

/** What a part adds to the HTTP server besides its verbs. */
export interface HttpPart {
  /** Loaded only where a server is opened. */
  readonly routes?: () => Promise<AddRoutes>
  /** The same routes as OpenAPI operations, by path and method. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>
  /** Path prefixes whose requests prove themselves by a signature, so that they may come from any origin. */
  readonly signedPaths?: readonly string[]
}
