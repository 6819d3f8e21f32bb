/**
 * A worker process on a store: `node worker.mjs STORE OPTIONS`. It says what happens to its runs, works until it is
 * ended, and goes cleanly when it is asked to. Its handler hangs at its first attempt if the payload says so.
 */
import { Belfry } from '../../dist/index.js'

const [store, options] = process.argv.slice(2)
const belfry = await Belfry.open({ store, log: false, ...JSON.parse(options ?? '{}') })
belfry.handle('work', async ({ payload, attempt }) => {
  if (payload === 'hangs once' && attempt === 1) await new Promise(() => undefined)
  return process.pid
})
for (const name of ['schedule.fired', 'run.started', 'run.completed', 'run.lease-lost']) {
  belfry.on(name, (event) => process.send?.({ name, event }))
}
process.once('SIGTERM', () => belfry.close().then(() => process.exit()))
await belfry.start()
process.send?.({ name: 'started' })
