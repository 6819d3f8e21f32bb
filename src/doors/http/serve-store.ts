import { BelfryError } from '../../core/error.ts'
import { hostsOf, isLoopback, type ListenAddress, listenDefault } from '../../operations/input/listen-address.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { HttpDoor, type HttpDoorOptions } from './http-door.ts'
import { type Serving, serve } from './http-server.ts'
import { ensureToken } from './token-file.ts'

export interface ServeOptions {
  readonly listen?: ListenAddress
  /** A proxy in front speaks TLS and restricts access; without it the server listens only on loopback. */
  readonly behindProxy?: boolean
  /** More accepted Host headers, as the proxy passes them on: `belfry.example.org`. */
  readonly hosts?: readonly string[]
  /** The folder for the local user's token file; without it no token is created. */
  readonly tokenFolder?: string
  readonly basePath?: string
}

export interface Served extends Serving {
  readonly url: string
  /** The token file, and whether it is new. */
  readonly token: { readonly file: string; readonly isNew: boolean } | null
}

type Door = Pick<HttpDoorOptions, 'version' | 'onUnforeseen' | 'events' | 'isWorking' | 'secretOf'>

export async function serveDoor(context: OperationContext, options: ServeOptions, behind: Door): Promise<Served> {
  const { listen = listenDefault, behindProxy = false, hosts = [], tokenFolder, basePath } = options
  if (!isLoopback(listen) && !behindProxy) throw exposed(listen)
  const token = tokenFolder === undefined ? null : await ensureToken(context, tokenFolder)
  // The door needs the port, which is known once the server listens; no request arrives before that.
  let opened: HttpDoor | undefined
  const serving = await serve(() => opened as HttpDoor, listen, context.clock)
  const known = behindProxy && hosts.length === 0 ? undefined : [...hostsOf(listen, serving.port), ...hosts]
  const door = new HttpDoor({
    ...behind,
    context,
    ...(known !== undefined && { hosts: known }),
    ...(basePath !== undefined && { basePath }),
  })
  opened = door
  const host = serving.host.includes(':') ? `[${serving.host}]` : serving.host
  return {
    ...serving,
    url: `http://${host}:${serving.port}${basePath ?? ''}`,
    token,
    async close() {
      door.close()
      await serving.close()
    },
  }
}

function exposed({ host, port }: ListenAddress): BelfryError {
  return new BelfryError(
    'invalid',
    `At ${host}:${port} other machines could reach the server, and it does not speak TLS.`,
    {
      hint: 'Listen at 127.0.0.1, or put a proxy with TLS in front of the server and add --behind-proxy.',
    },
  )
}
