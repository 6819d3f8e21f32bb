import { z } from 'zod'
import { readConfigFile } from '../../config/file.ts'
import { refuseUntrusted, Trust } from '../../config/trust.ts'
import { documentShape } from '../../operations/config/document.ts'
import type { World } from './world.ts'

/** What a file says of the HTTP door, in the words of the flags. */
export interface ServerSaid {
  readonly listenSaid?: string
  readonly behindProxy?: true
  readonly hosts?: string
}

/**
 * What the file says of the HTTP door. A file with which something is wrong says nothing here: whoever applies it tells
 * what, and the worker works all the same.
 */
export async function serverSaid(path: string | null, isFound: boolean, { env }: World): Promise<ServerSaid> {
  if (path === null) return {}
  try {
    const file = await readConfigFile(path)
    refuseUntrusted(file, new Trust(env, { found: isFound ? path : null }))
    const { server } = z.object({ server: documentShape.server }).parse(file.document ?? {})
    return {
      ...(server?.listen !== undefined && { listenSaid: server.listen }),
      ...(server?.behindProxy === true && { behindProxy: true }),
      ...(server?.hosts !== undefined && { hosts: server.hosts.join(',') }),
    }
  } catch {
    // It is told where it is applied.
    return {}
  }
}
