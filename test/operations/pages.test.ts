import { describe, expect, it, onTestFinished } from 'vitest'
import type { AnyOperation } from '../../src/operations/operation.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { nouns } from '../../src/table.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { postgresUrl } from '../postgres.ts'
import { Desk, errorOf, keptTo, problemsIn, verbsAt } from './desk.ts'

async function deskOn(database: string): Promise<Desk> {
  const schema = database === 'SQLite' ? null : lendSchema()
  const desk = await Desk.open(schema === null ? {} : { url: postgresUrl(), schema })
  onTestFinished(async () => {
    await desk.store.close()
    if (schema !== null) await returnSchema(schema)
  })
  return desk
}

interface Item {
  readonly id: string
  readonly name: string
}

/** All pages of a list, asked for as each says of the next; `between` happens before each but the first. */
async function pages(
  { context }: Desk,
  operation: AnyOperation,
  asked: Record<string, unknown>,
  between: (page: readonly Item[]) => Promise<unknown> = async () => undefined,
): Promise<string[][]> {
  const found: string[][] = []
  for (let next: Readonly<Record<string, unknown>> | null = {}; next !== null; ) {
    const input: Record<string, unknown> = { ...asked, ...next }
    const page = (await keptTo(operation).call(context, input)) as Item[]
    found.push(page.map(({ name }) => name))
    await between(page)
    next = operation.nextPage?.(page, input) ?? null
  }
  return found
}

describe.each(['SQLite', 'PostgreSQL'])('a list that is looked at page by page on %s', (database) => {
  it('has every queue once, in the order of their bytes', async () => {
    const desk = await deskOn(database)
    const names = ['B', 'a', 'Z', 'é', 'a b', '🔔', 'default']
    for (const name of names) await verbsAt(() => desk.context).queues.set(name, { maxConcurrent: 1 })
    const all = await pages(desk, nouns.queue.operations.list, { limit: 2 })
    expect(all).toEqual([['B', 'Z'], ['a', 'a b'], ['default', 'é'], ['🔔']])
    expect(await verbsAt(() => desk.context).queues.list({ after: '🔔' })).toEqual([])
    expect(await problemsIn(verbsAt(() => desk.context).queues.list({ limit: 0 }))).toMatchObject([{ field: 'limit' }])
  })

  it('has a hundred queues unless it is told otherwise', async () => {
    const desk = await deskOn(database)
    const { queues, runs } = verbsAt(() => desk.context)
    await runs.enqueueMany(Array.from({ length: 101 }, (_, index) => ({ target: null, queue: `q${index}` })))
    expect(await queues.list()).toHaveLength(100)
    expect(await queues.list({ limit: 1_000 })).toHaveLength(101)
  })

  it('has every token that is good once, though the last of a page is revoked before the next is asked for', async () => {
    const desk = await deskOn(database)
    const { tokens } = verbsAt(() => desk.context)
    for (const name of ['a', 'b', 'c', 'd', 'gone', 'lost']) await tokens.create(name)
    for (const name of ['gone', 'lost']) await tokens.revoke(name)
    const revokeB = async (page: readonly Item[]) => (page.at(-1)?.name === 'b' ? tokens.revoke('b') : undefined)
    expect(await pages(desk, nouns.token.operations.list, { limit: 2 }, revokeB)).toEqual([['a', 'b'], ['c', 'd'], []])
    expect(await pages(desk, nouns.token.operations.list, { limit: 1, revoked: true })).toEqual([
      ['lost'],
      ['gone'],
      ['b'],
      [],
    ])
    expect((await tokens.list()).map(({ name }) => name)).toEqual(['a', 'c', 'd', 'lost', 'gone', 'b'])
    expect((await errorOf(tokens.list({ revoked: true, after: 'b' }))).message).toContain('the id of a revoked token')
  })

  it('has every worker once, though the last of a page stops before the next is asked for', async () => {
    const desk = await deskOn(database)
    const { store } = desk
    const ids = new Map<string, string>()
    for (const name of ['old', 'a', 'b', 'c', 'd', 'new']) {
      ids.set(name, await store.do(registerWorker, { name, host: 'h', can: { kinds: [] }, beatMs: 1_000 }))
    }
    const stop = (name: string) => store.beat([ids.get(name) ?? ''], { stopped: true })
    for (const name of ['old', 'new']) await stop(name)
    const stopB = async (page: readonly Item[]) => (page.at(-1)?.name === 'b' ? stop('b') : undefined)
    const { list } = nouns.worker.operations
    expect(await pages(desk, list, { limit: 2 }, stopB)).toEqual([['a', 'b'], ['c', 'd'], []])
    // What is full with some of both goes on among those that have stopped.
    expect(await pages(desk, list, { limit: 4 })).toEqual([
      ['a', 'c', 'd', 'new'],
      ['b', 'old'],
    ])
    const refused = await errorOf(verbsAt(() => desk.context).workers.list({ after: 'r-11' }))
    expect(refused.message).toContain('the id of a worker')
  })
})
