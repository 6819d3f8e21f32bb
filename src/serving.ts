/** Connects the HTTP door with a store that is open in this process. Loaded only when that door is opened. */
import { z } from 'zod'
import { HttpDoor } from './doors/http/http-door.ts'
import { type Served, serveDoor } from './doors/http/serve-store.ts'
import type { Behind } from './library/part.ts'
import { packageVersion } from './library/version.ts'
import { onlyGiven } from './operations/fields/only-given.ts'
import { listenAddressOf } from './operations/input/listen-address.ts'
import { read } from './operations/input/read-input.ts'
import { type Problem, refuse } from './operations/input/refuse-input.ts'

const basePath = z
  .string()
  .regex(/^(\/[\w.~-]+)*$/)
  .optional()
const hosts = z.array(z.string().min(1)).readonly().optional()

const handlerInput = z.strictObject({ basePath, hosts }) satisfies z.ZodType<unknown, HandlerOptions>
const serveInput = z.strictObject({
  listen: z.string().optional(),
  behindProxy: z.boolean().optional(),
  hosts,
  basePath,
  tokenFolder: z.string().min(1).optional(),
}) satisfies z.ZodType<unknown, ServeOptions>

/** The options of `handler`. */
export interface HandlerOptions {
  /** The path under which it is mounted, such as `/belfry`. Default: none. */
  readonly basePath?: string | undefined
  /** The Host headers that are accepted. Default: any, because the surrounding server decides. */
  readonly hosts?: readonly string[] | undefined
}

/** The options of `serve`. */
export interface ServeOptions extends HandlerOptions {
  /** The address to listen at. Default: `127.0.0.1:4747`. */
  readonly listen?: string | undefined
  /** Whether it may listen on an address that other machines can reach, for a proxy with TLS in front. Default: false. */
  readonly behindProxy?: boolean | undefined
  /** The folder in which the first start writes a token for this machine's user. Default: no token is written. */
  readonly tokenFolder?: string | undefined
}

export type { Served }

function doorOf({ events, secretOf }: Behind) {
  // Reported as an event, because a worker at a command line has no log and prints its events.
  const onUnforeseen = (error: unknown) =>
    events.tell('door.failed', { error: error instanceof Error ? error : new Error(String(error)) })
  return { version: packageVersion(), events, onUnforeseen, secretOf }
}

/** The door as a function from requests to responses. */
export function handlerOf(options: HandlerOptions, behind: Behind): HttpDoor {
  const { value, problems } = read(handlerInput, options, 'a handler')
  refuse('The handler', problems)
  return new HttpDoor({ ...doorOf(behind), ...onlyGiven(value), context: behind.context })
}

export async function served(options: ServeOptions, behind: Behind): Promise<Served> {
  const { value, problems: found } = read(serveInput, options, 'a server')
  const problems: Problem[] = [...found]
  const { listen: text, ...rest } = value
  const listen = text === undefined ? undefined : listenAddressOf(text, 'listen', problems)
  if (listen === null && problems.length === 0) {
    problems.push({
      field: 'listen',
      problem: 'is "none"',
      expected: 'an address to listen at, such as 127.0.0.1:4747',
    })
  }
  refuse('The server', problems)
  return serveDoor(behind.context, onlyGiven({ ...rest, listen: listen ?? undefined }), doorOf(behind))
}
