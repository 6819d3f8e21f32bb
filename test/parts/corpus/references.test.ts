import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { itemPathIn } from '../../../src/parts/corpus/tree/document-file.ts'
import { CorpusScene, type StoreKind } from './scene.ts'

it.each([
  ['/r/a/b', 'a/b'],
  ['/r/a/.meta', 'a'],
  ['/r/a/.meta/meta.json', 'a'],
  ['/r/a/', 'a'],
  ['/r', '.'],
  ['.meta', '.'],
  ['a', 'a'],
  ['/rest/a', null],
  ['/', null],
  ['', null],
  ['../a', null],
  ['/r/../a', null],
  ['a/../../b', null],
])('as the path of an item below /r, %j is %j', (given, path) => {
  expect(itemPathIn('/r', given)).toBe(path)
})

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('on %s', (kind) => {
  it('a reference that leads out of the root, also by a link, hands a phase nothing of what lies there', async () => {
    const scene = await CorpusScene.open({}, { kind })
    const outside = join(scene.folder, 'other')
    mkdirSync(join(outside, 'guide/.meta'), { recursive: true })
    writeFileSync(join(outside, 'guide/.meta/meta.json'), JSON.stringify({ _content: 'the secret of another corpus' }))
    symlinkSync(outside, join(scene.root, 'link'))
    const refs = ['../other/guide', 'link/guide', join(outside, 'guide'), 'b', 7, join(scene.root, 'c')]
    await scene.seed('b', 'c')
    await scene.settle()
    scene.write('a/README.md', 'A')
    scene.write('a/.meta/meta.json', JSON.stringify({ _crossRefs: refs }))
    await scene.settle()
    const references = scene.handed.filter(({ item }) => item === 'a').map((one) => one.references)
    expect(Object.keys(references[0] ?? {}).sort()).toEqual(['b', 'c', 'link/guide'])
    expect(references[0]).toMatchObject({ 'link/guide': null, c: expect.stringContaining('content of c') })
    expect(JSON.stringify(scene.handed)).not.toContain('secret')
  })
})

it('a reference to no item is answered beside the item, and an item that cites itself is no reader of its own', async () => {
  const scene = await CorpusScene.open({})
  const { corpora } = scene.belfry
  await scene.seed('a', 'b')
  const { missingRefs } = await corpora.update({ name: 'notes', path: 'a', crossRefs: ['nosuch', 'a', 'b'] })
  expect(missingRefs).toEqual(['nosuch'])
  expect((await corpora.item('notes', 'a')).missingRefs).toEqual(['nosuch'])
  expect((await corpora.explain('notes', 'a')).wouldLookAgain).toEqual([])
  expect((await corpora.explain('notes', 'b')).wouldLookAgain).toEqual(['a'])
})

it('without its root an item is not called gone: the root is named, and no repair', async () => {
  const scene = await CorpusScene.open({})
  const { corpora } = scene.belfry
  await scene.seed('a')
  await scene.belfry.stop()
  rmSync(scene.root, { recursive: true })
  for (const call of [corpora.item('notes', 'a'), corpora.preview('notes', 'a')]) {
    const error = {
      code: 'unavailable',
      message: expect.stringContaining(`${scene.root} of corpus notes does not exist`),
    }
    await expect(call).rejects.toMatchObject(error)
  }
})

it('a rule that seeds references out of the root is refused', async () => {
  const scene = await CorpusScene.open({})
  for (const ref of ['../../a/notes/guide', '/etc', '']) {
    const rule = { match: '**/README.md', crossRefs: [ref] }
    const put = scene.belfry.corpora.put({
      name: 'notes',
      root: scene.root,
      target: { handler: 'write' },
      autoSeed: [rule],
    })
    await expect(put).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('crossRefs') })
  }
})
