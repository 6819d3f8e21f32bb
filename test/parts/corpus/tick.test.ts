import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../src/index.ts'
import { CorpusScene, plainly } from './scene.ts'

it('a tick seeds the folders that its rules match, never one that a person deleted, and never inside .meta', async () => {
  const rules = [
    { match: '**/*.md', steer: 'all' },
    { match: 'guide/*.md', crossRefs: ['api'] },
  ]
  const scene = await CorpusScene.open({ autoSeed: rules, ignore: ['drafts'] })
  for (const path of ['guide/a.md', 'api/b.md', 'drafts/c.md', 'code/d.ts']) scene.write(path, 'x')
  const { corpora } = scene.belfry
  const rehearsed = await corpora.seed({ name: 'notes', match: '**/*.md', dryRun: true })
  expect([rehearsed, scene.has('api/.meta')]).toEqual([{ seeded: ['api', 'guide'], left: 0, dryRun: true }, false])
  await scene.belfry.queues.pause('corpus:notes', { reason: 'so that no phase is at work' })
  await corpora.tick('notes')
  const paths = async () => (await corpora.list({ corpus: 'notes' })).items?.map(({ path }) => path)
  expect(await paths()).toEqual(['api', 'guide'])
  expect(scene.document('guide')).toMatchObject({ _steer: 'all', _crossRefs: ['api'] })
  scene.write('guide/.meta/archive/note.md', 'x')
  await corpora.deleteItem({ name: 'notes', path: 'api' })
  await corpora.tick('notes')
  expect(await paths()).toEqual(['guide'])
  expect(scene.has('guide/.meta/archive/.meta')).toBe(false)
})

it('a document that a person removes by hand is not seeded again, by a watching worker neither, until the person asks', async () => {
  const scene = await CorpusScene.open({ autoSeed: [{ match: '**/*.md' }], cron: '0 0 1 1 *' })
  const { corpora, queues, runs, schedules } = scene.belfry
  await queues.pause('corpus:notes', { reason: 'so that no phase is at work' })
  for (const path of ['guide/a.md', 'api/b.md', 'faq/c.md']) scene.write(path, 'x')
  const paths = async () => (await corpora.list({ corpus: 'notes' })).items?.map(({ path }) => path)
  await corpora.tick('notes')
  expect(await paths()).toEqual(['api', 'faq', 'guide'])
  rmSync(join(scene.root, 'api/.meta'), { recursive: true })
  // A folder that goes and comes again is another one.
  rmSync(join(scene.root, 'faq'), { recursive: true })
  await corpora.tick('notes')
  expect(await paths()).toEqual(['guide'])
  scene.write('faq/c.md', 'x')
  await corpora.tick('notes')
  expect(await paths()).toEqual(['faq', 'guide'])
  rmSync(join(scene.root, 'guide/.meta'), { recursive: true })
  await queues.resume('corpus:notes')
  for (let tick = 0; tick < 2; tick += 1) await runs.wait((await schedules.run('corpus:notes', { force: true })).id)
  expect(scene.has('guide/.meta')).toBe(false)
  await corpora.seed({ name: 'notes', path: 'guide' })
  expect(await paths()).toEqual(['faq', 'guide'])
})

it('an item that is disabled after it was picked is not paid for; a trigger still runs it', async () => {
  const scene = await CorpusScene.open({ root: undefined, cron: '0 0 1 1 *' })
  const { corpora, queues, runs } = scene.belfry
  await corpora.putItem({ name: 'notes', path: 'a' })
  await queues.pause('corpus:notes', { reason: 'so that it waits' })
  const { picked } = await corpora.tick('notes')
  await corpora.update({ name: 'notes', path: 'a', disabled: true })
  await queues.resume('corpus:notes')
  const { result } = await runs.wait(picked?.run as string)
  expect([result?.value, scene.handed]).toEqual([{ item: 'a', phase: null, because: 'its item is disabled' }, []])
  expect([await scene.play('a'), scene.handed.length]).toEqual(['completed', 1])
})

it('a corpus that drains fills every free slot, one phase of an item; without drain a tick picks one', async () => {
  const scene = await CorpusScene.open({ root: undefined, cron: '0 0 1 1 *', concurrency: 3 })
  const { corpora, queues } = scene.belfry
  for (const path of ['a', 'b', 'c', 'd', 'e']) await corpora.putItem({ name: 'notes', path })
  await queues.pause('corpus:notes', { reason: 'to look at its line' })
  const inLine = async () =>
    (await corpora.queue('notes')).automatic.flatMap(({ path, run }) => (run === null ? [] : [path]))
  const first = await corpora.tick('notes')
  expect([first.picked?.path, await inLine()]).toEqual(['a', ['a']])
  const second = await corpora.tick('notes')
  expect([second.picked?.path, second.next.map(({ path }) => path)]).toEqual(['b', ['c', 'd', 'e']])
  expect(second.says).toMatch(/^The architect of b was picked before the architect of c/)
  await corpora.put({ name: 'notes', target: { handler: 'write' }, concurrency: 4, drain: true, withoutBudget: true })
  const third = await corpora.tick('notes')
  expect(third.stages.at(-1)).toMatchObject({ stage: 'enqueue', enqueued: 2 })
  expect(await inLine()).toEqual(['a', 'b', 'c', 'd'])
  expect((await corpora.tick('notes')).says).toBe('Nothing was picked: its phases are held (paused).')
  let atOnce = 0
  let most = 0
  scene.answer = async (handed, run) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    while (most < 4) await nextTurn()
    atOnce -= 1
    return plainly(handed, run)
  }
  await queues.resume('corpus:notes')
  await expect.poll(async () => (await corpora.status('notes')).counts, { timeout: 20_000 }).toEqual({ fresh: 5 })
  expect(most).toBe(4)
})

it('a tick that finds nothing owed looks seldom, an edit resets that, and a root that is gone fails it', async () => {
  const scene = await CorpusScene.open({})
  await scene.seed('a')
  await scene.settle()
  const { corpora, schedules, runs } = scene.belfry
  await corpora.tick('notes')
  expect((await corpora.status('notes')).idle).toBe(2)
  const outcomes: string[] = []
  for (let tick = 0; tick < 2; tick += 1) {
    const { id } = await schedules.run('corpus:notes')
    const ended = await runs.wait(id)
    outcomes.push(ended.status === 'skipped' ? String(ended.end?.reason) : ended.status)
  }
  expect(outcomes).toEqual(['idle-backoff', 'completed'])
  expect((await corpora.status('notes')).idle).toBe(4)
  await corpora.update('notes', 'a', { emphasis: 2 })
  expect((await corpora.status('notes')).idle).toBe(1)
  rmSync(join(scene.root, '.meta'), { recursive: true })
  await expect(corpora.tick('notes')).rejects.toThrow(/may be another folder/)
  const { checks } = await scene.belfry.store.doctor()
  const found = checks.find(({ check }) => check === 'corpora')
  expect(found?.findings.map(({ says }) => says)).toEqual([expect.stringContaining('may be another folder')])
})

it('a running worker looks at a changed file by itself: its phase is pending, and the next tick looks', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' })
  const { corpora } = scene.belfry
  await scene.seed('a')
  await scene.settle()
  await corpora.tick('notes')
  expect((await corpora.status('notes')).idle).toBe(2)
  // The index: a reader of one item would see the change before the worker does.
  const indexed = async () => (await corpora.list({ corpus: 'notes' })).items?.[0]?.phase
  scene.write('a/README.md', 'another text')
  await expect.poll(indexed).toBe('builder')
  expect((await corpora.explain('notes', 'a')).changed.map(({ input }) => input)).toEqual(['contents'])
  expect((await corpora.status('notes')).idle).toBe(1)
  scene.write('a/.meta/meta.json', JSON.stringify({ ...scene.document('a'), _steer: 'Shorter.' }))
  await expect.poll(indexed).toBe('architect')
})

it('a running worker takes a corpus that another process creates, before its next beat', async () => {
  const scene = await CorpusScene.open({ root: undefined }, { beatMs: 600_000, store: 'sqlite:belfry.db' })
  // The worker's first beat is over.
  const beat = async () => (await scene.belfry.workers.list()).some(({ beatAt, startedAt }) => beatAt > startedAt)
  await expect.poll(beat).toBe(true)
  const other = await Belfry.open({ store: scene.store, log: false })
  onTestFinished(() => other.close())
  await other.corpora.create({ name: 'faq', target: { handler: 'write' } })
  await other.corpora.putItem({ name: 'faq', path: 'a', sources: { ticket: 'How long?' } })
  const { run } = await other.corpora.trigger({ name: 'faq', path: 'a' })
  expect((await other.runs.wait(run as string)).status).toBe('completed')
}, 20_000)

it('a config file defines corpora, and one that it no longer names stays', async () => {
  const scene = await CorpusScene.open({})
  const corpus = { target: { handler: 'write' }, depthWeight: 2 }
  const applied = await scene.belfry.config.apply({ source: 'ops', corpora: { faq: corpus } })
  expect(applied.corpora).toEqual([{ name: 'faq', answer: 'created', changes: [] }])
  expect((await scene.belfry.corpora.get('faq')).depthWeight).toBe(2)
  await expect(scene.belfry.corpora.put({ name: 'faq', target: { handler: 'w' } })).rejects.toThrow(/ops/)
  const again = await scene.belfry.config.apply({ source: 'ops', corpora: {} })
  expect(again.corpora).toEqual([{ name: 'faq', answer: 'left', changes: [] }])
  const wrong = scene.belfry.config.apply({ source: 'ops', corpora: { faq: { ...corpus, cron: '* *' } } })
  await expect(wrong).rejects.toThrow(/cron/)
})

it('a config file defines no corpus that a create would refuse', async () => {
  const scene = await CorpusScene.open({})
  const { config, corpora } = scene.belfry
  const other = join(scene.folder, 'other')
  mkdirSync(join(other, 'inner'), { recursive: true })
  const apply = (root: string, name = 'books') =>
    config.apply({ source: 'ops', corpora: { [name]: { root, target: { handler: 'write' } } } })
  await expect(apply(join(scene.folder, 'nowhere'))).rejects.toThrow(/does not exist here/)
  await expect(apply(scene.root)).rejects.toThrow(/corpus notes/)
  mkdirSync(join(scene.root, 'part'))
  await expect(apply(join(scene.root, 'part'))).rejects.toThrow(/corpus notes/)
  await apply(other)
  expect((await corpora.status('books')).problem).toBeNull()
  const mark = readFileSync(join(other, '.meta/corpus.json'), 'utf8')
  await expect(apply(join(other, 'inner'), 'pages')).rejects.toThrow(/books/)
  await config.apply({ source: 'ops', corpora: {} })
  await corpora.delete('books')
  writeFileSync(join(other, '.meta/corpus.json'), mark.replace(/"id":"./, '"id":"x'))
  await expect(apply(other)).rejects.toThrow(/belongs to corpus books/)
})

it('a tick and its phases are runs: their results say the stages with their counts, the item, its phase and its tokens', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' })
  await scene.seed('a', 'b')
  const { corpora, runs, schedules } = scene.belfry
  const { id } = await schedules.run('corpus:notes')
  expect((await runs.wait(id)).status).toBe('completed')
  const { result } = await runs.get(id)
  const tick = result?.value as { stages: { stage: string; ms: number }[]; picked: { run: string }; next: object[] }
  expect(tick.stages.map(({ stage }) => stage)).toEqual([
    'seed',
    'discover',
    'derive, repair and invalidate',
    'retry',
    'select',
    'enqueue',
  ])
  expect(tick).toMatchObject({ picked: { path: 'a', phase: 'architect' }, next: [{ path: 'b', phase: 'architect' }] })
  await runs.wait(tick.picked.run)
  const { run } = await corpora.trigger({ name: 'notes', path: 'a' })
  await runs.wait(run as string)
  expect((await runs.get(run as string)).result?.value).toEqual({ item: 'a', phase: 'builder', tokens: 100 })
})

it('a tick says why it picked one item before the second, and why it picked none, and the explanation of its run repeats it', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *', root: undefined })
  const { corpora, queues, runs, schedules } = scene.belfry
  const says = async () => (await corpora.tick('notes')).says
  expect(await says()).toBe('Nothing was picked: no phase is pending.')
  for (const path of ['a', 'b']) await corpora.putItem({ name: 'notes', path })
  await scene.play('b')
  await queues.pause('corpus:notes', { reason: 'so that no phase is at work' })
  expect(await says()).toBe(
    'The builder of b was picked before the architect of a: band 2 comes before band 3. It waits: its phases are held (paused).',
  )
  expect(await says()).toBe('Nothing was picked: its phases are held (paused).')
  await queues.resume('corpus:notes')
  const { id } = await schedules.run('corpus:notes')
  await runs.wait(id)
  const { result } = await runs.get(id)
  const tick = result?.value as { says: string }
  expect((await runs.explain(id)).notes).toContain(tick.says)
})

it('every door names the same item as the next one: status, queue, explain, the tick, and a trigger without an item', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *', root: undefined, depthWeight: 1 })
  const { corpora, queues } = scene.belfry
  for (const path of ['a', 'b', 'c/deep']) await corpora.putItem({ name: 'notes', path })
  await corpora.update({ name: 'notes', path: 'b', depth: 3 })
  await scene.play('c/deep')
  await corpora.update({ name: 'notes', path: 'c/deep', disabled: true })
  await queues.pause('corpus:notes', { reason: 'so that nothing moves' })
  const next = { path: 'b', phase: 'architect' }
  expect((await corpora.status('notes')).next[0]).toMatchObject(next)
  expect((await corpora.queue('notes')).automatic[0]).toMatchObject(next)
  expect((await corpora.explain('notes', 'b')).place).toBe(1)
  expect((await corpora.explain('notes', 'a')).ahead[0]).toMatchObject(next)
  expect((await corpora.tick('notes')).picked).toMatchObject(next)
  expect(await corpora.trigger({ name: 'notes' })).toMatchObject(next)
})

it('a worker that is stopped in the middle of a phase gives it back; no attempt is used, and the next worker does it', async () => {
  const scene = await CorpusScene.open({ root: undefined })
  const { corpora, runs } = scene.belfry
  await corpora.putItem({ name: 'notes', path: 'a' })
  let begun: () => void = () => undefined
  const atWork = new Promise<void>((resolve) => {
    begun = resolve
  })
  scene.answer = (_, { signal }) => {
    begun()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
  }
  const { run } = await corpora.trigger({ name: 'notes', path: 'a' })
  await atWork
  await scene.belfry.stop({ graceMs: 0 })
  expect(await scene.item('a')).toMatchObject({ status: 'pending', phase: 'architect', attempts: 0, run: null })
  expect((await runs.get(run as string)).status).toBe('ready')
  scene.answer = plainly
  await scene.belfry.start()
  expect((await runs.wait(run as string)).status).toBe('completed')
  expect(await scene.item('a')).toMatchObject({ phase: 'builder', attempts: 0 })
})
