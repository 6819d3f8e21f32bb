/** A worker that lives until it is ended. It says when it has started, and goes cleanly when it is told to. */
import { Belfry } from '../dist/index.js'

const [store, leaseMs] = process.argv.slice(2)
const belfry = await Belfry.open({ store, leaseMs: Number(leaseMs) })
process.once('SIGTERM', () => belfry.close())
await belfry.start()
process.send?.('started')
