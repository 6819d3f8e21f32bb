/** Asks a running `belfry up` over HTTP with the face of the library: `node main.mjs URL TOKEN`. */
import { BelfryClient } from 'belfry/client'

const [url = 'http://127.0.0.1:4747', token = process.env.BELFRY_TOKEN ?? ''] = process.argv.slice(2)
const belfry = new BelfryClient({ url, token })

await belfry.schedules.put({ name: 'hello', every: '1h', target: { command: ['echo', 'hello'] } })
const { id } = await belfry.schedules.run('hello')
const { status } = await belfry.runs.wait(id)
console.log(`${id} ${status}`)

try {
  await belfry.schedules.get('helo')
} catch (error) {
  console.log(`${error.code}: ${error.message} ${error.hint}`)
}
