/** A worker that lives until it is ended. It says when it has started, and goes cleanly when it is told to. */
import { Belfry } from '../dist/index.js'

const [store, schema, leaseMs] = process.argv.slice(2)
const belfry = await Belfry.open({ store, schema, leaseMs: Number(leaseMs) })
await belfry.start({ closeOnSignals: true })
process.send?.('started')
