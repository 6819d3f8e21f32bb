/** Enqueues work in a transaction of your own on SQLite, in the file that has the tables of Belfry: `node sqlite.mjs FILE`. */
import { DatabaseSync } from '@photostructure/sqlite'
import { Belfry } from 'belfry'

const [file = './.belfry/belfry.db'] = process.argv.slice(2)
const belfry = await Belfry.open({ store: `sqlite:${file}` })
const database = new DatabaseSync(file)
database.exec('create table if not exists orders (id integer primary key)')

/** The order and its work are there together, or neither is. */
async function order(id, { fails = false } = {}) {
  database.exec('begin immediate')
  try {
    database.prepare('insert into orders values (?)').run(id)
    const run = await belfry.runs.enqueue({ target: { handler: 'ship' }, payload: { order: id } }, { tx: database })
    if (fails) throw new Error('The card was refused.')
    database.exec('commit')
    return run.id
  } catch (error) {
    database.exec('rollback')
    return error.message
  }
}

console.log(await order(1))
console.log(await order(2, { fails: true }))
const { orders } = database.prepare('select count(*) as orders from orders').get()
const { runs } = await belfry.runs.list()
console.log(`${orders} order, ${runs.length} run`)
database.close()
await belfry.close()
