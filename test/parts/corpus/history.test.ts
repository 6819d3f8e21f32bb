import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CorpusScene, plainly, type StoreKind } from './scene.ts'

const item = { name: 'notes', path: 'a' }

/** An item on disk or in the store that was built twice, from two texts. */
async function builtTwice(kind: StoreKind, isStored: boolean, definition: object = {}): Promise<CorpusScene> {
  const scene = await CorpusScene.open({ ...(isStored && { root: undefined }), ...definition }, { kind })
  const put = (text: string) => scene.belfry.corpora.putItem({ ...item, sources: { ticket: text } })
  for (const text of ['one', 'two']) {
    if (isStored) await put(text)
    else scene.write('a/README.md', text)
    if (!isStored && text === 'one') await scene.seed('a')
    scene.answer = (handed, run) =>
      handed.phase === 'builder' ? { _content: `about ${text}`, title: text } : plainly(handed, run)
    await scene.settle()
  }
  scene.handed.length = 0
  return scene
}

const documentOf = async ({ belfry }: CorpusScene) => (await belfry.corpora.item(item)).document
const namesOf = async ({ belfry }: CorpusScene) =>
  (await belfry.corpora.history(item)).snapshots.map(({ snapshot }) => snapshot)
const kindsOf = async ({ belfry }: CorpusScene) =>
  (await belfry.corpora.history(item)).snapshots.map(({ kind }) => kind)

describe.each<[StoreKind, string]>([
  ['SQLite', 'of files'],
  ['PostgreSQL', 'of files'],
  ['SQLite', 'in the store'],
  ['PostgreSQL', 'in the store'],
])('on %s the history of an item %s', (kind, where) => {
  const isStored = where === 'in the store'

  it('has a snapshot of each full cycle, newest first, and at most as many as the corpus keeps', async () => {
    const scene = await builtTwice(kind, isStored, { maxArchive: 2 })
    const { snapshots } = await scene.belfry.corpora.history(item)
    expect(snapshots.map((one) => one.kind)).toEqual(['cycle', 'cycle'])
    expect(snapshots.every(({ at, bytes }) => at !== null && bytes > 100)).toBe(true)
    const [newest] = await namesOf(scene)
    const { run } = await scene.belfry.corpora.trigger({ ...item, force: true })
    await scene.belfry.runs.wait(run as string)
    await scene.settle()
    const names = await namesOf(scene)
    expect([names.length, names.indexOf(newest as string)]).toEqual([2, 1])
  })

  it('is restored as an edit: the text that it replaces is kept, settings stay, and the critic alone is owed', async () => {
    const scene = await builtTwice(kind, isStored)
    const { corpora } = scene.belfry
    const [, first] = (await namesOf(scene)) as [string, string]
    await corpora.update({ ...item, emphasis: 2 })
    const { revision } = (await corpora.item(item)).item
    const restored = await corpora.restore({ ...item, snapshot: first })
    expect(restored.document).toMatchObject({
      _content: 'about one',
      title: 'one',
      _emphasis: 2,
      _revision: revision + 1,
    })
    expect(restored.item).toMatchObject({ status: 'pending', phase: 'critic' })
    expect((await corpora.explain(item)).changed.map(({ input }) => input)).toContain('content')
    expect(await kindsOf(scene)).toEqual(['replaced', 'cycle', 'cycle'])
    const [replaced] = (await namesOf(scene)) as [string]
    const { changes } = await corpora.diff({ ...item, from: replaced })
    expect(changes).toEqual([
      { field: '_content', before: 'about two', after: 'about one' },
      { field: 'title', before: 'two', after: 'one' },
    ])
    expect((await corpora.diff({ ...item, from: first, to: replaced })).changes.map(({ field }) => field)).toEqual([
      '_content',
      '_emphasis',
      'title',
    ])
    const again = await corpora.restore({ ...item, snapshot: first })
    expect([again.item.revision, await kindsOf(scene)]).toEqual([revision + 1, ['replaced', 'cycle', 'cycle']])
    await scene.settle()
    expect(scene.handed.map(({ phase }) => phase)).toEqual(['critic'])
    expect(await documentOf(scene)).toMatchObject({ _content: 'about one' })
  })

  it('is restored while a phase is at work: the restored text stays, and the result is kept as rejected', async () => {
    const scene = await builtTwice(kind, isStored)
    const { corpora, runs } = scene.belfry
    const [, first] = (await namesOf(scene)) as [string, string]
    scene.answer = async () => {
      await corpora.restore({ ...item, snapshot: first })
      return { _content: 'about three' }
    }
    const { run } = await corpora.trigger({ ...item, from: 'builder' })
    expect((await runs.wait(run as string)).status).toBe('completed')
    expect(await documentOf(scene)).toMatchObject({ _content: 'about one' })
    // The replaced document is that of the newest cycle, which already has a snapshot.
    expect((await kindsOf(scene)).sort()).toEqual(['cycle', 'cycle', 'rejected'])
    const rejected = (await namesOf(scene)).find((name) => name.includes('rejected')) as string
    expect((await corpora.diff({ ...item, from: rejected })).changes).toContainEqual({
      field: '_content',
      before: 'about three',
      after: 'about one',
    })
  })

  it('refuses what is no snapshot of the item, and an old revision, and changes nothing', async () => {
    const scene = await builtTwice(kind, isStored)
    const { corpora } = scene.belfry
    const [, first] = (await namesOf(scene)) as [string, string]
    const before = JSON.stringify(await documentOf(scene))
    const refusals: [() => Promise<unknown>, string, RegExp][] = [
      [() => corpora.restore({ ...item, snapshot: 'never' }), 'not-found', /no snapshot "never"/],
      [() => corpora.restore({ ...item, snapshot: '../meta' }), 'not-found', /no snapshot/],
      [() => corpora.restore({ ...item, snapshot: '' }), 'not-found', /no snapshot/],
      [() => corpora.restore({ ...item, path: 'b', snapshot: first }), 'not-found', /no item "b"/],
      [() => corpora.restore({ ...item, snapshot: first, ifRevision: 1 }), 'conflict', /not 1/],
      [() => corpora.restore(item as never), 'invalid', /snapshot/],
      [() => corpora.diff({ ...item, from: 'never' }), 'not-found', /no snapshot "never"/],
      [() => corpora.diff({ ...item, to: first.slice(1) }), 'not-found', /no snapshot/],
      [() => corpora.history({ ...item, limit: 0 }), 'invalid', /limit/],
      [() => corpora.repair({ name: 'notes' }), 'invalid', /either a path or --all/],
      [() => corpora.repair({ ...item, all: true }), 'invalid', /either a path or --all/],
      [() => corpora.repair({ ...item, path: 'b' }), 'not-found', /no item "b"/],
    ]
    for (const [call, code, message] of refusals) {
      await expect(call()).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    }
    expect([JSON.stringify(await documentOf(scene)), await kindsOf(scene)]).toEqual([before, ['cycle', 'cycle']])
    expect(await corpora.repair(item)).toEqual({ repaired: [], left: [] })
    await corpora.deleteItem(item)
    if (isStored) {
      await corpora.putItem({ ...item, sources: {} })
      expect(await namesOf(scene)).toEqual([])
    }
  })
})

it('a content that a person writes into a document owes the critic, and no other phase', async () => {
  const scene = await builtTwice('SQLite', false)
  scene.write('a/.meta/meta.json', JSON.stringify({ ...scene.document('a'), _content: 'by hand' }))
  await scene.settle()
  expect(scene.handed.map(({ phase }) => phase)).toEqual(['critic'])
  expect(scene.document('a')._content).toBe('by hand')
})

describe('a document that cannot be read', () => {
  it('is repaired from the newest snapshot that is whole; its bytes are kept, and what changed since is owed', async () => {
    const scene = await builtTwice('SQLite', false)
    const { corpora } = scene.belfry
    const revision = Number(scene.document('a')._revision)
    const archive = join(scene.root, 'a/.meta/archive')
    const torn = readFileSync(join(scene.root, 'a/.meta/meta.json')).subarray(0, 300)
    writeFileSync(join(scene.root, 'a/.meta/meta.json'), torn)
    writeFileSync(join(archive, '2999-01-01T00-00-00-000Z.json'), '{"torn too')
    writeFileSync(join(archive, '2998-01-01T00-00-00-000Z.rejected.json'), '{"_content":"no","_rejected":true}')
    scene.write('a/more.md', 'since then')
    await corpora.scan('notes')
    expect((await corpora.explain(item)).says).toContain('belfry corpus repair notes a')
    await expect(corpora.update({ ...item, emphasis: 2 })).rejects.toThrow(/may be torn/)
    const { repaired, left } = await corpora.repair({ name: 'notes', all: true })
    expect([repaired.map(({ path }) => path), left]).toEqual([['a'], []])
    expect(readFileSync(join(scene.root, 'a', repaired[0]?.kept ?? ''))).toEqual(torn)
    expect(scene.document('a')).toMatchObject({ _content: 'about two', _revision: revision + 1 })
    expect(scene.document('a')).not.toHaveProperty('_archived')
    await corpora.scan('notes')
    expect((await corpora.explain(item)).item).toMatchObject({ phase: 'architect', revision: revision + 1 })
    expect(await corpora.repair({ name: 'notes', all: true })).toEqual({ repaired: [], left: [] })
  })

  it('and has no snapshot is left as it is, with the reason', async () => {
    const scene = await CorpusScene.open({})
    await scene.seed('a', 'b')
    scene.write('a/.meta/meta.json', '[]')
    await scene.belfry.corpora.scan('notes')
    expect(await scene.belfry.corpora.repair(item)).toEqual({
      repaired: [],
      left: [{ path: 'a', problem: 'is no JSON object, and has no snapshot' }],
    })
    expect(readFileSync(join(scene.root, 'a/.meta/meta.json'), 'utf8')).toBe('[]')
    expect(existsSync(join(scene.root, 'a/.meta/archive'))).toBe(false)
    mkdirSync(join(scene.root, 'b/.meta/archive'), { recursive: true })
    expect(readdirSync(join(scene.root, 'b/.meta/archive'))).toEqual([])
  })
})
