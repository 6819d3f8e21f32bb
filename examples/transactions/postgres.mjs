/** Enqueues work in a transaction of your own on PostgreSQL: `node postgres.mjs postgres://…`. */
import { Belfry } from 'belfry'
import pg from 'pg'

const [store, schema = 'belfry'] = process.argv.slice(2)
const belfry = await Belfry.open({ store, schema })
const client = new pg.Client(store)
await client.connect()
await client.query('create temporary table orders (id int primary key)')

/** The order and its work are there together, or neither is. */
async function order(id, { fails = false } = {}) {
  await client.query('begin')
  try {
    await client.query('insert into orders values ($1)', [id])
    const run = await belfry.runs.enqueue({ target: { handler: 'ship' }, payload: { order: id } }, { tx: client })
    if (fails) throw new Error('The card was refused.')
    await client.query('commit')
    return run.id
  } catch (error) {
    await client.query('rollback')
    return error.message
  }
}

console.log(await order(1))
console.log(await order(2, { fails: true }))
const { rows } = await client.query('select count(*)::int as orders from orders')
const { runs } = await belfry.runs.list()
console.log(`${rows[0].orders} order, ${runs.length} run`)
await client.end()
await belfry.close()
