/** A worker with one long run in its hands, which says what happens to it. */
import { Belfry } from '../../dist/index.js'

const [store, patience] = process.argv.slice(2)
const belfry = await Belfry.open({ store, log: false })
belfry.handle('long', async (run) => {
  process.send?.('running')
  if (patience === 'ends') return new Promise((resolve) => process.once('message', resolve))
  await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
  throw new Error('stopped')
})
belfry.on('worker.stopping', () => process.send?.('stopping'))
await belfry.start({ closeOnSignals: true })
await belfry.runs.enqueue({ target: { handler: 'long' }, idempotencyKey: 'the one' })
