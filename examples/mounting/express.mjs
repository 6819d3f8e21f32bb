/** Belfry's HTTP door inside an Express app: `node express.mjs [PORT]`. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Belfry } from 'belfry'
import express from 'express'

const belfry = await Belfry.open({ store: process.env.BELFRY_STORE ?? 'sqlite:./.belfry/belfry.db' })
const door = await belfry.handler({ basePath: '/belfry' })
await belfry.start()

const app = express()

// No body parser may come before it: the door reads the body itself.
app.use('/belfry', async (request, response, next) => {
  try {
    const url = `${request.protocol}://${request.get('host')}${request.originalUrl}`
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    const answer = await door(
      new Request(url, {
        method: request.method,
        headers: new Headers(request.headers),
        ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' }),
      }),
    )
    response.status(answer.status)
    for (const [name, value] of answer.headers) response.setHeader(name, value)
    if (answer.body === null) response.end()
    else await pipeline(Readable.fromWeb(answer.body), response)
  } catch (error) {
    next(error)
  }
})

app.get('/', (_, response) => response.send('An app of your own.'))

const server = app.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${server.address().port}/belfry/docs`)
})

process.once('SIGTERM', async () => {
  server.close()
  await belfry.close()
})
