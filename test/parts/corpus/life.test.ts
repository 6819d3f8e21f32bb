import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fence } from '../../../src/core/untrusted-text.ts'
import { CorpusScene, plainly, type StoreKind } from './scene.ts'

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('an item of a corpus on %s', (kind) => {
  it('goes through its phases once, keeps what its owner wrote, and is fresh while nothing changes', async () => {
    const scene = await CorpusScene.open({}, { kind })
    scene.write('guide/.meta/meta.json', '{\n    "_steer": "short",\n    "owner": "docs"\n}\n')
    scene.write('guide/README.md', 'one')
    expect(await scene.settle()).toBe(3)
    const document = scene.document('guide')
    expect(Object.keys(document).slice(0, 2)).toEqual(['_steer', 'owner'])
    expect(document).toMatchObject({
      _builder: 'architect of guide',
      _content: expect.stringContaining('content of guide'),
      _state: { done: true },
      title: 'guide',
      _feedback: 'critic of guide',
      _phaseState: { architect: 'fresh', builder: 'fresh', critic: 'fresh' },
      _synthesisCount: 1,
      _builderTokens: 100,
      _builderTokensAvg: 100,
      _revision: 3,
    })
    expect(document).not.toHaveProperty('_criticTokens')
    expect(readFileSync(join(scene.root, 'guide/.meta/meta.json'), 'utf8')).toMatch(/^\{\n {4}"_steer"/)
    expect(readdirSync(join(scene.root, 'guide/.meta/archive'))).toHaveLength(1)
    expect(readdirSync(join(scene.root, 'guide/.meta')).sort()).toEqual(['archive', 'meta.json'])
    expect(scene.handed.map(({ phase }) => phase)).toEqual(['architect', 'builder', 'critic'])
    expect(scene.handed[1]).toMatchObject({
      brief: fence('architect of guide'),
      delta: { files: ['guide/README.md'] },
      steer: 'short',
    })
    const text = readFileSync(join(scene.root, 'guide/.meta/meta.json'), 'utf8')
    expect(await scene.settle()).toBe(0)
    expect(readFileSync(join(scene.root, 'guide/.meta/meta.json'), 'utf8')).toBe(text)
  })

  it('owes the phase whose input changed: names the architect, contents the builder, steer and references the architect', async () => {
    const scene = await CorpusScene.open({}, { kind })
    await scene.seed('a', 'b')
    await scene.settle()
    const owed = async () => {
      await scene.belfry.corpora.scan('notes')
      const { item, changed } = await scene.belfry.corpora.explain('notes', 'a')
      await scene.settle()
      return [item.phase, changed.map(({ input }) => input)]
    }
    scene.write('a/README.md', 'another text')
    expect(await owed()).toEqual(['builder', ['contents']])
    expect(scene.handed.findLast(({ phase }) => phase === 'builder')?.delta.files).toEqual(['a/README.md'])
    scene.write('a/more.md', 'more')
    expect(await owed()).toEqual(['architect', ['files', 'contents']])
    await scene.belfry.corpora.update('notes', 'a', { steer: 'for operators' })
    expect(await owed()).toEqual(['architect', ['steer']])
    await scene.belfry.corpora.update('notes', 'a', { crossRefs: ['b'] })
    expect(await owed()).toEqual(['architect', ['refs', 'references']])
    expect(await owed()).toEqual([null, []])
  })

  it('owes a phase that its corpus gets later, and no other', async () => {
    const three = [
      { name: 'architect', writes: ['_builder'] },
      { name: 'builder', writes: ['_content'] },
      { name: 'critic', writes: ['_feedback'] },
    ]
    const scene = await CorpusScene.open({ phases: three }, { kind })
    scene.answer = ({ phase, item }) => `${phase} of ${item}`
    await scene.seed('a')
    expect(await scene.settle()).toBe(3)
    const { root } = scene
    const phases = [...three, { name: 'editor', writes: ['_edited'] }]
    await scene.belfry.corpora.put({ name: 'notes', root, target: { handler: 'write' }, phases })
    await scene.settle()
    expect(scene.handed.map(({ phase }) => phase)).toEqual(['architect', 'builder', 'critic', 'editor'])
    expect(scene.document('a')).toMatchObject({ _edited: 'editor of a', _phaseState: { editor: 'fresh' } })
  })

  it('survives the edits that a person makes while a phase is at work, and the result for a field that they changed is archived', async () => {
    const scene = await CorpusScene.open({}, { kind })
    await scene.seed('a')
    await scene.settle()
    const edit = (fields: object) => {
      const file = join(scene.root, 'a/.meta/meta.json')
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...fields }))
    }
    scene.answer = (handed, run) => {
      if (handed.phase === 'builder') edit({ owner: 'me', _steer: 'mine' })
      if (handed.phase === 'critic') edit({ _feedback: 'by hand' })
      return plainly(handed, run)
    }
    const { run } = await scene.belfry.corpora.trigger({ name: 'notes', path: 'a', from: 'builder' })
    await scene.belfry.runs.wait(run as string)
    expect(scene.document('a')).toMatchObject({
      owner: 'me',
      _steer: 'mine',
      _content: expect.stringContaining('content'),
    })
    scene.answer = (handed, run) => {
      if (handed.phase === 'critic') edit({ _feedback: 'by hand' })
      return plainly(handed, run)
    }
    await scene.settle()
    expect(scene.document('a')).toMatchObject({ _feedback: 'by hand', owner: 'me' })
    const rejected = readdirSync(join(scene.root, 'a/.meta/archive')).filter((name) => name.includes('rejected'))
    expect(rejected.length).toBeGreaterThan(0)
    expect(JSON.parse(readFileSync(join(scene.root, 'a/.meta/archive', rejected[0] as string), 'utf8'))).toMatchObject({
      _feedback: 'critic of a',
      _rejected: true,
    })
  })

  it('that always fails is parked after its attempts with its reason, while the others become fresh', async () => {
    const scene = await CorpusScene.open({ attempts: 3 }, { kind })
    await scene.seed('bad', 'good', 'fine')
    scene.answer = (handed, run) => {
      if (handed.item === 'bad' && handed.phase === 'critic') throw new Error('no view')
      return plainly(handed, run)
    }
    await scene.settle()
    expect((await scene.item('good')).status).toBe('fresh')
    expect((await scene.item('fine')).status).toBe('fresh')
    const bad = await scene.item('bad')
    expect(bad).toMatchObject({ status: 'failed', phase: 'critic', attempts: 1, nextAt: expect.any(Number) })
    expect(scene.document('bad')).toMatchObject({
      _error: { step: 'critic', code: 'FAILED', message: expect.stringContaining('no view') },
    })
    for (let attempt = 2; attempt <= 3; attempt += 1) expect(await scene.play('bad')).toBe('failed')
    const { item, says } = await scene.belfry.corpora.explain('notes', 'bad')
    expect(item).toMatchObject({ status: 'parked', attempts: 3, nextAt: null })
    expect(says).toContain('no view')
    expect((await scene.belfry.corpora.queue('notes')).automatic).toEqual([])
    scene.answer = plainly
    expect(await scene.belfry.corpora.release({ name: 'notes', path: 'bad' })).toEqual({ released: ['bad'] })
    await scene.settle()
    expect((await scene.item('bad')).status).toBe('fresh')
    expect(scene.document('bad')).not.toHaveProperty('_error')
  })

  it('whose failed run a person retries is booked, and is not at work for ever', async () => {
    const scene = await CorpusScene.open({ root: undefined }, { kind })
    await scene.belfry.corpora.putItem({ name: 'notes', path: 'a', sources: { ticket: 'one' } })
    scene.answer = () => 'NO_REPLY'
    const { run } = await scene.belfry.corpora.trigger({ name: 'notes', path: 'a' })
    expect((await scene.belfry.runs.wait(run as string)).status).toBe('failed')
    scene.answer = plainly
    const { id } = await scene.belfry.runs.retry(run as string)
    expect((await scene.belfry.runs.wait(id)).status).toBe('completed')
    expect(await scene.item('a')).toMatchObject({ status: 'pending', phase: 'builder', run: null })
    expect(await scene.settle()).toBe(2)
  })

  it('in the store keeps its sources where an edit of an old revision is refused', async () => {
    const { belfry } = await CorpusScene.open({ root: undefined }, { kind })
    const item = { name: 'notes', path: 'a' }
    await belfry.corpora.putItem({ ...item, sources: { ticket: 'one' } })
    await belfry.corpora.putItem({ ...item, steer: 'Short.' })
    const stale = belfry.corpora.putItem({ ...item, sources: { ticket: 'lost' }, ifRevision: 0 })
    await expect(stale).rejects.toMatchObject({ code: 'conflict' })
    expect(JSON.stringify((await belfry.corpora.preview(item)).document)).toContain('one')
    await belfry.corpora.putItem({ ...item, sources: { ticket: 'two' }, ifRevision: 1 })
    expect(JSON.stringify((await belfry.corpora.preview(item)).document)).toContain('two')
  })

  it('in the store has another revision after any change, of its sources alone too, and an unknown one has none', async () => {
    const { belfry } = await CorpusScene.open({ root: undefined }, { kind })
    const { corpora } = belfry
    const item = { name: 'notes', path: 'a' }
    await expect(corpora.putItem({ ...item, sources: {}, ifRevision: 0 })).rejects.toMatchObject({
      code: 'conflict',
      details: { expected: 0, revision: null },
    })
    await corpora.putItem({ ...item, sources: { ticket: 'one' } })
    const read = (await corpora.item(item)).item.revision
    await corpora.putItem({ ...item, sources: { ticket: 'by another hand' } })
    for (const change of [{ sources: { ticket: 'mine' } }, { steer: 'Short.' }, { sources: { ticket: 'one' } }]) {
      const stale = corpora.putItem({ ...item, ...change, ifRevision: read })
      await expect(stale).rejects.toMatchObject({ code: 'conflict', details: { expected: 0, revision: 1 } })
    }
    await expect(corpora.update({ ...item, steer: 'Short.', ifRevision: read })).rejects.toMatchObject({
      details: { expected: 0, revision: 1 },
    })
    const same = await corpora.putItem({ ...item, sources: { ticket: 'by another hand' }, ifRevision: 1 })
    expect([same.item.revision, JSON.stringify((await corpora.preview(item)).document)]).toEqual([
      1,
      expect.stringContaining('by another hand'),
    ])
  })

  it('of the root is deleted without the mark of its corpus, which goes on', async () => {
    const scene = await CorpusScene.open({}, { kind })
    await scene.seed('.', 'a')
    await scene.belfry.corpora.deleteItem('notes', '.')
    expect([scene.has('.meta/meta.json'), scene.has('.meta/corpus.json')]).toEqual([false, true])
    expect(await scene.settle()).toBe(3)
  })

  it('in the store is handed the sources that differ from those of its last build', async () => {
    const scene = await CorpusScene.open({ root: undefined }, { kind })
    const item = { name: 'notes', path: 'a' }
    await scene.belfry.corpora.putItem({ ...item, sources: { one: 'same', two: 'old' } })
    await scene.settle()
    await scene.belfry.corpora.putItem({ ...item, sources: { one: 'same', two: 'new', three: 'more' } })
    scene.handed.length = 0
    await scene.settle()
    expect(scene.handed.map(({ phase, delta }) => [phase, delta.files])).toEqual([
      ['architect', ['three', 'two']],
      ['builder', ['three', 'two']],
      ['critic', []],
    ])
  })

  it('in the store is refreshed like a file', async () => {
    const scene = await CorpusScene.open({}, { kind })
    const { corpora, runs } = scene.belfry
    await corpora.create({ name: 'faq', target: { handler: 'write' } })
    await scene.belfry.stop()
    await scene.belfry.start()
    await corpora.putItem({ name: 'faq', path: 'billing/refunds', sources: { ticket: 'How long?' } })
    for (let phase = 0; phase < 3; phase += 1) {
      const { run } = await corpora.trigger({ name: 'faq', path: 'billing/refunds' })
      expect((await runs.wait(run as string)).status).toBe('completed')
    }
    const { content, item, document } = await corpora.item({ name: 'faq', path: 'billing/refunds' })
    expect([content, item.status, document._synthesisCount]).toEqual([expect.stringContaining('refunds'), 'fresh', 1])
    await corpora.putItem({ name: 'faq', path: 'billing/refunds', sources: { ticket: 'How long now?' } })
    expect((await corpora.item('faq', 'billing/refunds')).item.phase).toBe('builder')
  })
})

describe('a phase that was committed before a crash', () => {
  it('is booked from its document, and is not run again', async () => {
    const scene = await CorpusScene.open({})
    await scene.seed('a')
    await scene.play('a')
    // The state that a worker leaves when it dies after the rename: the index does not know the commit.
    const after = scene.document('a')
    const commit = { run: 'r-999', fence: 1 }
    const done = {
      ...after,
      _content: 'built',
      _phaseState: { architect: 'fresh', builder: 'fresh', critic: 'pending' },
    }
    scene.write('a/.meta/meta.json', JSON.stringify({ ...done, _revision: 2, _commit: commit }))
    await scene.belfry.corpora.scan('notes')
    expect(await scene.item('a')).toMatchObject({ status: 'pending', phase: 'critic', revision: 2 })
    await scene.settle()
    expect(scene.handed.map(({ phase }) => phase)).toEqual(['architect', 'critic'])
  })
})

describe('a document', () => {
  it('stays whole where the disk takes only a part of the new one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-whole-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'a/.meta'), { recursive: true })
    writeFileSync(join(folder, 'a/.meta/meta.json'), '{"_id":"x"}')
    const script = `import { renameIntoPlace, writeBeside } from './dist/parts/corpus/tree/document-file.js'
      renameIntoPlace('${folder}', 'a', writeBeside('${folder}', 'a', JSON.stringify({ _content: 'x'.repeat(100_000) }), 'm'))`
    // A limit on the file size behaves like a full disk: a part is written, and the rest is refused.
    const limited = `trap '' XFSZ; ulimit -f 8; exec "${process.execPath}" --input-type=module -e "$0"`
    const { status } = spawnSync('bash', ['-c', limited, script], { encoding: 'utf8' })
    expect(JSON.parse(readFileSync(join(folder, 'a/.meta/meta.json'), 'utf8'))).toEqual({ _id: 'x' })
    expect(status).toBe(1)
  })
})

describe('a torn document', () => {
  it('is listed as unreadable and stops nobody', async () => {
    const scene = await CorpusScene.open({})
    await scene.seed('a', 'b')
    scene.write('a/.meta/meta.json', '{"_id": "x"')
    await scene.settle()
    const { items } = await scene.belfry.corpora.list({ corpus: 'notes' })
    expect(items?.map(({ path, status }) => [path, status])).toEqual([
      ['a', 'unreadable'],
      ['b', 'fresh'],
    ])
    rmSync(join(scene.root, 'a/.meta'), { recursive: true })
    await scene.belfry.corpora.scan('notes')
    expect((await scene.belfry.corpora.status('notes')).items).toBe(1)
  })
})
