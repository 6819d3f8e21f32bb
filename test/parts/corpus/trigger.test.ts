import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { CorpusScene, plainly, type StoreKind } from './scene.ts'

const item = { name: 'notes', path: 'a' }

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('a trigger on %s', (kind) => {
  async function opened(...paths: readonly string[]): Promise<CorpusScene> {
    const scene = await CorpusScene.open({ root: undefined }, { kind })
    for (const path of paths) await scene.belfry.corpora.putItem({ ...item, path, sources: { text: path } })
    return scene
  }
  const phasesOf = ({ handed }: CorpusScene) => handed.map(({ item: of, phase }) => `${of} ${phase}`)

  it('to completion runs every owed phase of its item, one after the other, and stops where one fails', async () => {
    const scene = await opened('a', 'b')
    const { corpora, runs } = scene.belfry
    const { run } = await corpora.trigger({ ...item, toCompletion: true })
    let last = run as string
    for (let phase = 0; phase < 3; phase += 1) {
      await runs.wait(last)
      const { overrides, current } = await corpora.queue('notes')
      last = [...current, ...overrides][0]?.run ?? last
    }
    expect([phasesOf(scene), (await scene.item('a')).status]).toEqual([
      ['a architect', 'a builder', 'a critic'],
      'fresh',
    ])
    scene.answer = (handed, run) => (handed.phase === 'builder' ? 'NO_REPLY' : plainly(handed, run))
    const second = await corpora.trigger({ ...item, path: 'b', toCompletion: true })
    await runs.wait(second.run as string)
    const { overrides, current } = await corpora.queue('notes')
    await runs.wait([...current, ...overrides][0]?.run ?? (second.run as string))
    expect(phasesOf(scene).slice(3)).toEqual(['b architect', 'b builder'])
    expect(await corpora.queue('notes')).toMatchObject({ current: [], overrides: [] })
  })

  it('of a fresh item runs nothing, unless it is forced or names the phase to begin with', async () => {
    const scene = await opened('a')
    const { corpora, runs } = scene.belfry
    await scene.settle()
    scene.handed.length = 0
    expect(await corpora.trigger(item)).toMatchObject({ status: 'skipped', run: null, phase: null, created: false })
    expect(await corpora.trigger({ name: 'notes' })).toMatchObject({ status: 'skipped', path: null, run: null })
    const forced = await corpora.trigger({ ...item, force: true })
    expect(forced).toMatchObject({ status: 'queued', phase: 'architect', created: true })
    await runs.wait(forced.run as string)
    await scene.settle()
    const from = await corpora.trigger({ ...item, from: 'critic' })
    expect(from).toMatchObject({ phase: 'critic' })
    await runs.wait(from.run as string)
    expect(phasesOf(scene)).toEqual(['a architect', 'a builder', 'a critic', 'a critic'])
    expect((await scene.item('a')).status).toBe('fresh')
  })

  it('without an item takes the first of the ranking, disabled ones left out; a named one runs disabled, waiting or parked', async () => {
    const scene = await opened('a', 'b')
    const { corpora, runs } = scene.belfry
    await corpora.update({ ...item, disabled: true })
    const first = await corpora.trigger({ name: 'notes' })
    expect(first.path).toBe('b')
    await runs.wait(first.run as string)
    scene.answer = () => 'NO_REPLY'
    for (const status of ['failed', 'failed', 'failed', 'failed', 'parked']) {
      expect(await scene.play('b')).toBe('failed')
      expect((await scene.item('b')).status).toBe(status)
    }
    expect((await corpora.trigger({ name: 'notes' })).status).toBe('skipped')
    scene.answer = plainly
    expect([await scene.play('a'), await scene.play('b')]).toEqual(['completed', 'completed'])
    expect((await scene.item('a')).status).toBe('disabled')
  })

  it('of an item that the tick has enqueued takes the place of that run, with all that was asked for', async () => {
    const scene = await opened('a', 'b')
    const { corpora, runs, queues } = scene.belfry
    await queues.pause('corpus:notes', { reason: 'to look at its line' })
    const { picked } = await corpora.tick('notes')
    expect(picked).toMatchObject({ path: 'a', phase: 'architect' })
    const asked = await corpora.trigger({ ...item, from: 'critic' })
    expect(asked).toMatchObject({ status: 'queued', phase: 'critic', created: true, position: 0 })
    expect((await runs.get(picked?.run as string)).status).toBe('cancelled')
    expect((await corpora.queue('notes')).overrides.map(({ path }) => path)).toEqual(['a'])
    await queues.resume('corpus:notes')
    await runs.wait(asked.run as string)
    expect(phasesOf(scene)).toEqual(['a critic'])
  })

  it('takes the place of a run that a stopped worker gave back, and its item is not at work any longer', async () => {
    const scene = await opened('a')
    const { belfry } = scene
    const { corpora, runs } = belfry
    const hung = new Promise<void>((begun) => {
      scene.answer = () => {
        begun()
        return new Promise(() => undefined)
      }
    })
    const { picked } = await corpora.tick('notes')
    await hung
    await belfry.stop({ graceMs: 1 })
    expect((await runs.get(picked?.run as string)).status).toBe('ready')
    scene.answer = plainly
    const { run } = await corpora.trigger({ ...item, from: 'architect' })
    await belfry.start()
    await runs.wait(run as string)
    expect(phasesOf(scene)).toEqual(['a architect', 'a architect'])
    expect(await scene.item('a')).toMatchObject({ status: 'pending', phase: 'builder' })
  })
})

it.each<StoreKind>(['SQLite', 'PostgreSQL'])(
  'an abort parks its item although it was edited during the phase, and an edit after it lets it go on, on %s',
  async (kind) => {
    for (const root of ['files', undefined]) {
      const scene = await CorpusScene.open(root === undefined ? { root } : {}, { kind })
      const { corpora, runs } = scene.belfry
      if (root === undefined) await corpora.putItem({ ...item, sources: { text: 'a' } })
      else await scene.seed('a')
      const atWork = new Promise<void>((begun) => {
        scene.answer = (_, { signal }) => {
          begun()
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
        }
      })
      const { run } = await corpora.trigger(item)
      await atWork
      await corpora.update({ ...item, steer: 'Shorter.' })
      if (root !== undefined) scene.write('a/more.md', 'another file')
      await corpora.abort(item)
      await runs.wait(run as string)
      scene.answer = plainly
      for (let tick = 0; tick < 2; tick += 1) {
        await corpora.scan({ name: 'notes', full: true })
        expect((await corpora.tick('notes')).picked).toBeNull()
        expect((await corpora.list({ corpus: 'notes' })).items).toMatchObject([{ status: 'parked' }])
      }
      await corpora.update({ ...item, steer: 'Longer.' })
      expect((await corpora.list({ corpus: 'notes' })).items).toMatchObject([{ status: 'pending' }])
    }
  },
)

it('an abort of one item leaves the others at work; no tick picks it before it is released, and a restart neither', async () => {
  const scene = await CorpusScene.open({ root: undefined, concurrency: 2 })
  const { corpora, runs } = scene.belfry
  for (const path of ['a', 'b']) await corpora.putItem({ ...item, path })
  const free = new Map<string, () => void>()
  scene.answer = ({ item: path }, { signal }) =>
    new Promise((resolve, reject) => {
      free.set(path, () => resolve('done'))
      signal.addEventListener('abort', () => reject(new Error('stopped')))
    })
  const [first, second] = [await corpora.trigger(item), await corpora.trigger({ ...item, path: 'b' })]
  while ((await corpora.queue('notes')).current.length < 2) await nextTurn()
  expect((await corpora.abort(item)).items.map(({ path }) => path)).toEqual(['a'])
  expect((await runs.wait(first.run as string)).status).toBe('cancelled')
  expect(await scene.item('a')).toMatchObject({ status: 'parked', nextAt: null })
  while (!free.has('b')) await nextTurn()
  free.get('b')?.()
  expect((await runs.wait(second.run as string)).status).toBe('completed')
  scene.answer = plainly
  await scene.belfry.stop()
  await scene.belfry.start()
  await corpora.scan({ name: 'notes', full: true })
  for (let tick = 0; tick < 2; tick += 1) {
    const { picked } = await corpora.tick('notes')
    if (picked !== null) await runs.wait(picked.run)
    expect(picked?.path).not.toBe('a')
  }
  expect(await corpora.abort(item)).toEqual({ status: 'idle', items: [] })
  expect(await corpora.release(item)).toEqual({ released: ['a'] })
  expect(await corpora.release(item)).toEqual({ released: [] })
  await scene.settle()
  expect((await scene.item('a')).status).toBe('fresh')
})
