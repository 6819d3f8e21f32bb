import type { Method } from './operations/door-facts.ts'
import { type AnyOperation, type Doors, verbWords } from './operations/operation.ts'
import { operations, pluralOf } from './table.ts'

/** The route of a verb. */
export interface Route {
  readonly operation: AnyOperation
  readonly method: Method
  /** `/api/schedules/{name}/pause`. */
  readonly path: string
  /** The field in the path: the subject of the verb. */
  readonly subject: 'name' | 'id' | null
  readonly status: 200 | 201
}

/**
 * Derives the route of a verb: the subject is in the path, the action is the method or the last segment, and the rest is the query of
 * a read and the body of a write. Secrets are never in a path, because paths are logged.
 */
export function routeOf(operation: AnyOperation): Route {
  const { noun, verb, method, effect, takes } = operation
  const base = `/api/${pluralOf(noun)}`
  const subject = takes[0] === 'name' || takes[0] === 'id' ? takes[0] : null
  const isMade = method === 'POST'
  const about = subject === null || isMade ? base : `${base}/{${subject}}`
  return {
    operation,
    method: method ?? (effect === 'read' ? 'GET' : 'POST'),
    path: method === undefined ? `${about}/${verbWords(verb)}` : about,
    subject: about === base ? null : subject,
    status: isMade ? 201 : 200,
  }
}

/** Every verb of the HTTP door, fixed paths first, so that no name can shadow them. */
export const routes: readonly Route[] = operations
  .filter(({ doors }: { readonly doors: Doors }) => doors.http === true)
  .map(routeOf)
  .sort((a, b) => holes(a) - holes(b))

function holes({ path }: Route): number {
  return path.split('{').length
}
