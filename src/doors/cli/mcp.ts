import { exitOk } from '../../operations/error-codes.ts'
import { type Scope, scopes } from '../../operations/operation.ts'
import { type Problem, refuse } from '../../operations/problem.ts'
import { placeOf, refuseAbsentStore, refuseStraySchema } from './place.ts'
import { refuseServer, type ServerFlags } from './server.ts'
import type { World } from './world.ts'

interface McpFlags extends ServerFlags {
  readonly scope?: string
  readonly readOnly?: true
}

/**
 * Serves an agent that has started this process, until it closes the pipes. What such an agent reads is not all its
 * owner's, so that it may not start programs unless somebody says so.
 */
export async function mcp(given: Readonly<Record<string, unknown>>, world: World): Promise<number> {
  const { store, schema, namespace, ...flags } = given as unknown as McpFlags
  const scope = scopeOf(flags)
  refuseServer('mcp', 'An agent asks a server by itself, at its /mcp.', given as ServerFlags, world)
  const place = placeOf(store, world)
  refuseStraySchema(place, schema)
  refuseAbsentStore(place, world.folder)
  const opening = {
    store: place.store,
    ...(schema !== undefined && { schema }),
    ...(namespace !== undefined && { namespace }),
  }
  const session = await world.open({ ...opening, mustExist: true })
  const { stdin, stdout, stderr } = world
  const onUnforeseen = (error: unknown) => {
    stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
  try {
    await world.model(session, { scope, stdin, stdout, onUnforeseen })
    return exitOk
  } finally {
    await session.close()
  }
}

function scopeOf({ scope, readOnly }: Pick<McpFlags, 'scope' | 'readOnly'>): Scope {
  const problems: Problem[] = []
  const found = scopes.find((known) => known === (scope ?? (readOnly === true ? 'read' : 'operate')))
  if (found === undefined) {
    problems.push({ field: '--scope', problem: `is ${JSON.stringify(scope)}`, expected: `one of ${scopes.join(', ')}` })
  } else if (readOnly === true && found !== 'read') {
    problems.push({ field: '--scope', problem: `is ${found} beside --read-only`, expected: 'only one of the two' })
  }
  refuse('The server', problems)
  return found as Scope
}
