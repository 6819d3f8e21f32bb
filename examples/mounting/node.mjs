/** Belfry's HTTP door inside a server of Node's own `http`: `node node.mjs [PORT]`. */
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Belfry } from 'belfry'

const belfry = await Belfry.open({ store: process.env.BELFRY_STORE ?? 'sqlite:./.belfry/belfry.db' })
const door = await belfry.handler({ basePath: '/belfry' })
await belfry.start()

const server = createServer(async (request, response) => {
  if (!request.url.startsWith('/belfry')) return response.end('An app of your own.')
  try {
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    const answer = await door(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method,
        headers: new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else await pipeline(Readable.fromWeb(answer.body), response)
  } catch (error) {
    console.error(error)
    response.destroy()
  }
})

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${server.address().port}/belfry/docs`)
})

process.once('SIGTERM', async () => {
  server.close()
  await belfry.close()
})
