import { describe, expect, it } from 'vitest'
import { databaseOf } from '../../src/store/sql-store.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { faulty } from './faulty-store.ts'
import { openPlace, settleDown, stage } from './stage.ts'

const target = { handler: 'work' }

describe.each(['memory:', 'sqlite', 'postgres'] as const)(
  'work that comes to a sleeping worker of its process (%s)',
  (place) => {
    it('is leased where it is taken in, and begins when whoever enqueued it knows of it', async () => {
      const here = await stage({ place })
      const order: string[] = []
      here.handle('work', () => order.push('began'))
      await here.engine.start()
      await here.enqueue({ target })
      await here.until('run.completed')
      // Until its wake-ups are known to arrive it may be looking around at any moment.
      while (!here.store.hears()) await settleDown()
      await here.engine.drain()
      order.length = 0
      const database = databaseOf(here.store)
      const { write } = database
      database.write = async (verb) => {
        const answer = (await write.call(database, verb)) as { leased?: unknown }
        if (answer?.leased !== undefined && answer.leased !== null) order.push('taken in and leased')
        return answer as never
      }
      await here.enqueue({ target })
      order.push('enqueued')
      await here.until('run.started', 2)
      database.write = write
      expect(order).toEqual(['taken in and leased', 'enqueued', 'began'])
    })
  },
)

describe('a worker that hears of work elsewhere, and not where', () => {
  async function scene({ others }: { others: number }) {
    const world = faulty(await openPlace())
    const here = await stage({ store: world.store })
    const register = () =>
      here.store.do(registerWorker, { name: 'other', host: 'there', can: { kinds: [], handlers: [] }, beatMs: 60_000 })
    for (let count = 0; count < others; count++) await register()
    here.handle('work', () => undefined)
    await here.engine.start()
    await here.enqueue({ target, queue: 'mail' })
    await here.until('run.completed')
    await here.engine.drain()
    const calls: string[] = []
    world.fault = (verb) => {
      if (verb === 'lease' || verb === 'read.workAhead') calls.push(verb)
      return undefined
    }
    world.wake({ from: 'elsewhere', what: 'work' })
    await settleDown()
    return calls
  }

  it('asks where it found some last, before it looks everywhere', async () => {
    expect((await scene({ others: 0 })).slice(0, 2)).toEqual(['lease', 'read.workAhead'])
  })

  it('looks first where there are others, who would all ask at once', async () => {
    expect(await scene({ others: 1 })).toEqual(['read.workAhead'])
  })
})
