import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { type Corpus, findCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import { lookAtPrompts } from '../../../src/parts/corpus/tree/prompt-inputs.ts'
import { lookAtDirty } from '../../../src/parts/corpus/tree/scan-tree.ts'
import { CorpusScene, type StoreKind } from './scene.ts'

function promptFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-prompts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'critic.md')
  writeFileSync(file, text)
  return file
}

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('an edited prompt file on %s', (kind) => {
  it('owes its phase of every item by the next tick, and a read of an item writes nothing', async () => {
    const file = promptFile('Be kind.')
    const store = 'sqlite:belfry.db'
    const scene = await CorpusScene.open({ prompts: { critic: file }, cron: '0 0 1 1 *' }, { kind, store })
    await scene.seed('a', 'b')
    await scene.settle()
    // A watch would look at the folders that the last phase wrote, and see the new prompt by itself.
    await scene.retire()
    const { corpora } = scene.belfry
    writeFileSync(file, 'Be strict.')
    const read = await corpora.explain('notes', 'a')
    expect([read.item.phase, read.place, read.pending]).toEqual(['critic', 1, 1])
    expect((await corpora.list({ corpus: 'notes', owed: true })).items).toEqual([])
    const { picked, next } = await corpora.tick('notes')
    expect([picked, ...next]).toMatchObject([
      { path: 'a', phase: 'critic' },
      { path: 'b', phase: 'critic' },
    ])
  })

  it('is seen by a scan of items in the store too', async () => {
    const file = promptFile('Be kind.')
    const scene = await CorpusScene.open({ root: undefined, prompts: { critic: file } }, { kind })
    const { corpora } = scene.belfry
    await corpora.putItem({ name: 'notes', path: 'a', sources: { text: 'a' } })
    await scene.settle()
    writeFileSync(file, 'Be strict.')
    expect(await corpora.scan('notes')).toMatchObject({ owed: 1 })
  })
})

it('an edited prompt file reaches every item by the next look, also those behind many whose documents are gone', async () => {
  const file = promptFile('Be kind.')
  const scene = await CorpusScene.open({ prompts: { critic: file } }, { store: 'sqlite:belfry.db' })
  await scene.seed('z')
  await scene.settle()
  const many = Array.from({ length: 60 }, (_, number) => `a${number}`)
  for (const path of many) scene.write(`${path}/.meta/meta.json`, '{}')
  await scene.belfry.corpora.scan('notes')
  await scene.belfry.stop()
  for (const path of many) rmSync(join(scene.root, path), { recursive: true })
  writeFileSync(file, 'Be strict.')
  const store = await openStore(scene.store)
  onTestFinished(() => store.close())
  await lookAtPrompts(store, 'notes')
  const corpus = (await store.look(findCorpus, 'notes')) as Corpus
  expect(await lookAtDirty(store, corpus)).toMatchObject({ looked: 1, owed: 1 })
})

it('a prompt file that is gone owes nothing, fails the phase that needs it with its path, and doctor names it', async () => {
  const file = promptFile('Be kind.')
  const scene = await CorpusScene.open({ prompts: { critic: file } })
  const { corpora, store } = scene.belfry
  await scene.seed('a')
  await scene.settle()
  rmSync(file)
  await corpora.scan({ name: 'notes', full: true })
  expect((await scene.item('a')).status).toBe('fresh')
  const missing = { code: 'unavailable', message: expect.stringContaining(file) }
  scene.write('a/README.md', 'another text')
  await scene.play('a')
  expect((await scene.item('a')).phase).toBe('critic')
  await expect(corpora.preview('notes', 'a')).rejects.toMatchObject(missing)
  expect(await scene.play('a')).toBe('failed')
  expect(scene.document('a')._error).toMatchObject({ step: 'critic', message: expect.stringContaining(file) })
  const { checks } = await store.doctor()
  const { findings } = checks.find(({ check }) => check === 'corpora') as { findings: { says: string }[] }
  expect(findings.map(({ says }) => says)).toContainEqual(expect.stringContaining(file))
})
