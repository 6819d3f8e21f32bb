import { expect, test } from 'vitest'
import type { NewRun } from '../../src/store/port.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { numberOf, onEachDatabase, type Scene } from './scene.ts'

const report = { target: { handler: 'report' } } as const

const take = (scene: Scene, runs: readonly NewRun[]) => scene.write((context) => enqueue(context, runs))

async function storedOf(scene: Scene, id: string) {
  const [run] = await scene.sql('select * from belfry.run where id = $1', numberOf(id))
  const [place] = await scene.sql('select * from belfry.ready where run_id = $1', numberOf(id))
  return { run: { ...run, id: 0 }, place: { ...place, run_id: 0 } }
}

onEachDatabase('work from which nothing follows but a place in line', (scene) => {
  test.each<[string, NewRun]>([
    ['with nothing said of it', report],
    ['with all that can be said of it', { ...report, payload: { a: '\0"\\' }, priority: -3, deadline: 9e12 }],
    ['for a host', { payload: [1], repeatable: false, onExhausted: 'fail', options: { timeoutMs: 5 } }],
  ])('is stored as all other work is: %s', async (_what, input) => {
    await scene().setQueue('default', { policy: { maxConcurrent: 7 } })
    const [first, alone] = [await scene().enqueue(input), await scene().enqueue(input)]
    // A run of another lane beside it leaves it the long way.
    const [beside] = await take(scene(), [input, { target: { handler: 'other' } }])
    expect(await storedOf(scene(), alone)).toEqual(await storedOf(scene(), first))
    expect(await storedOf(scene(), beside?.id ?? '')).toEqual(await storedOf(scene(), first))
  })

  test('makes its queue the first time and says so, and is all taken in the next time without a word', async () => {
    const runs = Array.from({ length: 3 }, () => ({ ...report, queue: 'mail' }))
    const first = await take(scene(), runs)
    const next = await take(scene(), runs)
    expect(first.map((answer) => 'queueCreated' in answer)).toEqual([true, true, true])
    expect(next.map((answer) => 'queueCreated' in answer)).toEqual([false, false, false])
    const ids = [...first, ...next].map(({ id }) => numberOf(id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(6)
    const inLine = await scene().sql(
      'select run_id from belfry.ready where ns = $1 order by run_id',
      scene().context.ns,
    )
    expect(inLine.map((row) => row.run_id)).toEqual(ids)
  })

  test('that waits for an instant, or has a key, does not come into line for being among plain work', async () => {
    const notBefore = scene().clock.now + 1_000
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    await scene().enqueue(report)
    await take(scene(), [report, { ...report, notBefore }])
    await take(scene(), [
      { ...report, concurrencyKey: 'k' },
      { ...report, concurrencyKey: 'k' },
    ])
    const aside = await scene().sql('select kind from belfry.aside where ns = $1 order by kind', scene().context.ns)
    expect(aside.map(({ kind }) => kind)).toEqual(['key', 'waiting'])
  })
})
