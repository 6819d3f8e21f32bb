import type { Hono } from 'hono'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { Authenticator } from './authenticator.ts'

/** What the server hands to a part's own routes. */
export interface PartDoor {
  readonly context: OperationContext
  readonly gate: Authenticator
  /** What a reference to a secret stands for. */
  readonly secretOf?: ((reference: { readonly secret: string }) => Promise<string>) | undefined
  /** Hears of defects. */
  readonly onUnforeseen?: ((error: unknown) => void) | undefined
}

/** Adds routes to the server. */
export type AddRoutes = (app: Hono, door: PartDoor) => void

/** What a part brings to the HTTP server besides its verbs. */
export interface HttpPart {
  /** Loaded only where a server is opened. */
  readonly routes?: () => Promise<AddRoutes>
  /** The same as OpenAPI tells it: operations by method, by path. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>
  /** Whose requests prove themselves by a signature, so that they may come from anywhere: the beginning of their paths. */
  readonly signedPaths?: readonly string[]
}
