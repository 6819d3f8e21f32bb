import type { Method } from './operations/door-facts.ts'
import { type AnyOperation, type Doors, verbWords } from './operations/operation.ts'
import { operations, pluralOf } from './table.ts'

/** Where a verb is found over HTTP. */
export interface Route {
  readonly operation: AnyOperation
  readonly method: Method
  /** `/api/schedules/{name}/pause`. */
  readonly path: string
  /** The field that stands in the path: what the verb is about. */
  readonly subject: 'name' | 'id' | null
  readonly status: 200 | 201
}

/**
 * Derives the route of a verb: what it is about is part of the path, what it does is the method or the last part, and all
 * else is the query of what reads and the body of what writes. What only its holder may know never stands in a path,
 * because paths are written into logs.
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

/** Every verb that has this door, those whose paths have no hole first: no name can hide them. */
export const routes: readonly Route[] = operations
  .filter(({ doors }: { readonly doors: Doors }) => doors.http === true)
  .map(routeOf)
  .sort((a, b) => holes(a) - holes(b))

function holes({ path }: Route): number {
  return path.split('{').length
}
