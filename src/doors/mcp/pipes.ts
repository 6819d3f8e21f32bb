import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** Serves on two pipes until the caller closes its end. Requests from before that are answered first, so that a file of requests can be piped in. */
export async function servePipes(server: Server, stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream): Promise<void> {
  const transport = new StdioServerTransport(stdin, stdout)
  const asked = new Set<unknown>()
  let hasEnded = false
  const closed = new Promise<void>((resolve) => {
    const look = () => {
      if (hasEnded && asked.size === 0) resolve()
    }
    const send = transport.send.bind(transport)
    transport.send = async (message) => {
      await send(message)
      if (isAnswer(message)) asked.delete(message.id)
      look()
    }
    server.onclose = resolve
    stdin.once('end', () => {
      hasEnded = true
      look()
    })
  })
  await server.connect(transport)
  const hear = transport.onmessage
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message) asked.add(message.id)
    hear?.(message)
  }
  await closed
  await server.close()
}

function isAnswer(message: JSONRPCMessage): message is JSONRPCMessage & { readonly id: unknown } {
  return 'id' in message && !('method' in message)
}
