import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { both, run } from '../../../src/store/statement.ts'
import { CorpusScene } from './scene.ts'

const generated = { _generatedAt: '2026-01-05T09:00:00.000Z', _synthesisCount: 2 }
const whole = { _builder: 'Plan.', _content: 'Text.', _feedback: 'Good.', ...generated }

/** Documents of each kind that the original program leaves in a tree, and the phase that each one owes. */
const documents: Readonly<Record<string, readonly [document: object, phase: string | null]>> = {
  none: [{ _id: '5f0b', _steer: 'Short.' }, 'architect'],
  brief: [{ _id: '5f0c', _builder: 'Plan.', _architectTokens: 12 }, 'builder'],
  content: [{ _id: '5f0d', _builder: 'Plan.', _content: 'Text.', ...generated, title: 'Ours' }, 'critic'],
  error: [{ ...whole, _error: { step: 'critic', code: 'TIMEOUT', message: 'too slow' } }, 'critic'],
  interrupted: [{ ...whole, _phaseState: { architect: 'fresh', builder: 'running', critic: 'stale' } }, 'builder'],
  archived: [{ ...whole, _phaseState: { architect: 'fresh', builder: 'fresh', critic: 'fresh' } }, null],
  citing: [
    { ...whole, _depth: -2, _crossRefs: ['ROOT/archived', 'ROOT/brief/.meta', 'content', '/etc', '../up'] },
    null,
  ],
  disabled: [{ _id: '5f0e', _disabled: true }, 'architect'],
  'archived/part': [{ ...whole, _content: 'A part.' }, null],
}
const snapshot = 'archived/.meta/archive/2026-01-05T09-00-00-000Z.json'

/** Writes the tree as the original program does: without our indentation, and with its lock file. */
function plant(scene: CorpusScene): void {
  for (const [path, [document]] of Object.entries(documents)) {
    scene.write(`${path}/README.md`, `About ${path}.`, new Date('2026-01-01T00:00:00Z'))
    scene.write(`${path}/.meta/meta.json`, JSON.stringify(document, null, 4).replaceAll('ROOT', scene.root))
  }
  scene.write(snapshot, JSON.stringify({ ...whole, _archived: true, _archivedAt: generated._generatedAt }))
  scene.write('content/.meta/.lock', '{"_lockPid":7,"_lockStartedAt":"2026-01-05T09:00:00.000Z"}')
}

function bytesIn(scene: CorpusScene): Record<string, string> {
  const names = readdirSync(scene.root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = names
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.endsWith('corpus.json'))
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(path, 'utf8')]))
}

it('a tree of the original is taken over without a byte changed in it, each document owes what is missing, and then all become fresh', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' })
  const { corpora } = scene.belfry
  plant(scene)
  const before = bytesIn(scene)
  await corpora.scan('notes', { full: true })
  const { items = [] } = await corpora.list({ corpus: 'notes' })
  expect(Object.fromEntries(items.map(({ path, phase }) => [path, phase]))).toEqual(
    Object.fromEntries(Object.entries(documents).map(([path, [, phase]]) => [path, phase])),
  )
  expect((await corpora.history('notes', 'archived')).snapshots).toHaveLength(1)
  expect(bytesIn(scene)).toEqual(before)
  await corpora.tick('notes')
  await scene.settle()
  const after = (await corpora.list({ corpus: 'notes' })).items ?? []
  expect(after.map(({ path, status }) => `${path} ${status}`)).toEqual(
    Object.keys(documents)
      .sort()
      .map((path) => `${path} ${path === 'disabled' ? 'disabled' : 'fresh'}`),
  )
  expect(after.find(({ path }) => path === 'citing')?.depth).toBe(-2)
  const { document } = await corpora.preview('notes', 'citing')
  expect(Object.keys(document.references as object)).toEqual(['archived', 'brief', 'content'])
  expect(scene.handed.filter(({ item }) => item === 'archived')).toEqual([])
  expect(scene.document('content')).toMatchObject({ _id: '5f0d', _content: 'Text.', title: 'Ours' })
  expect(scene.document('brief')).toMatchObject({ _builder: 'Plan.', _architectTokens: 12 })
})

it("the original's calls are answered for its own tree, with its owner paths", async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' })
  plant(scene)
  await scene.belfry.corpora.scan('notes', { full: true })
  await scene.belfry.stop()
  const { token } = await scene.belfry.tokens.create('old', { scope: 'operate' })
  const { url } = await scene.belfry.serve({ listen: '127.0.0.1:0' })
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asked = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${url}/corpora/notes/${path}`, asked)
    return [answer.status, await answer.json()]
  }
  const { root } = scene
  const citing = `metas/${encodeURIComponent(`${root}/citing/.meta`)}`
  const written = scene.document('citing')._crossRefs
  expect(await ask('GET', citing)).toMatchObject([200, { path: 'citing', meta: { _depth: -2, _crossRefs: written } }])
  const patch = { _crossRefs: [`${root}/archived`, 'brief'], _disabled: null, _depth: 3 }
  expect(await ask('PATCH', citing, patch)).toMatchObject([
    200,
    { meta: { _depth: 3, _crossRefs: [`${root}/archived`, 'brief'] } },
  ])
  expect(await ask('GET', citing)).toMatchObject([
    200,
    {
      crossRefs: [
        { path: 'archived', status: 'resolved' },
        { path: 'brief', status: 'resolved' },
      ],
    },
  ])
  expect(await ask('GET', 'preview?path=citing')).toMatchObject([
    200,
    { owedPhase: 'architect', architectReason: 'changed: _crossRefs', stalenessInputs: { crossRefsDeclChanged: true } },
  ])
  const [, { summary }] = (await ask('GET', 'metas')) as [number, { summary: object }]
  expect(summary).toMatchObject({ tokens: { architect: 12 }, lastSynthesizedAt: generated._generatedAt })
  expect(scene.document('citing')).toMatchObject({ _crossRefs: ['archived', 'brief'], _depth: 3 })
  expect(await ask('PATCH', citing, { _crossRefs: ['/etc'] })).toMatchObject([400, {}])
  expect(await ask('POST', 'synthesize', { path: `${root}/brief/.meta` })).toMatchObject([
    202,
    { status: 'queued', path: 'brief', owedPhase: 'builder', queuePosition: 0 },
  ])
  expect(await ask('POST', 'synthesize', { path: `${root}/archived` })).toMatchObject([200, { status: 'skipped' }])
  const [, queue] = (await ask('GET', 'queue')) as [number, { automatic: { path: string }[] }]
  expect(queue).toMatchObject({ current: null, overrides: [{ path: 'brief', owedPhase: 'builder' }] })
  expect(queue.automatic.map(({ path }) => path)).not.toContain('disabled')
})

it('a document that says that a phase is running, of which no run is known, owes that phase, and it counts as an attempt', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *', attempts: 2 })
  await scene.seed('a')
  const running = { architect: 'running', builder: 'stale', critic: 'stale' }
  for (const edit of [1, 2]) {
    scene.write('a/.meta/meta.json', JSON.stringify({ edit, _phaseState: running }))
    await scene.belfry.corpora.scan('notes')
    expect(await scene.item('a')).toMatchObject({ status: 'pending', phase: 'architect', attempts: 1 })
  }
  scene.answer = () => 'NO_REPLY'
  await scene.play('a')
  expect(await scene.item('a')).toMatchObject({ status: 'parked', attempts: 2 })
})

it('a full scan builds the index anew from the documents: ranks, counts, references and states, but no failure is forgotten', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' }, { store: 'sqlite:belfry.db' })
  const { corpora } = scene.belfry
  plant(scene)
  await corpora.scan('notes')
  scene.answer = () => 'NO_REPLY'
  await scene.play('none')
  const standing = async () => {
    const [{ items }, { counts, owed, next }] = [await corpora.list('notes'), await corpora.status('notes')]
    const { wouldLookAgain } = await corpora.explain('notes', 'archived')
    return { items, counts, owed, wouldLookAgain, next: next.map(({ path }) => path) }
  }
  const before = await standing()
  const store = await openStore(scene.store)
  onTestFinished(() => store.close())
  await store.do(function* () {
    for (const [number, spoil] of [
      "update belfry.corpus_group set items = items + 3 where status = 'pending'",
      'delete from belfry.corpus_ref',
      `update belfry.corpus_item set depth = 9, status = 'fresh', phase = '', state = '{"architect":"fresh"}' where path = 'brief'`,
    ].entries())
      yield* run(both(`spoil ${number}`, spoil))
  } as never)
  expect(await standing()).not.toEqual(before)
  await corpora.scan('notes', { full: true })
  expect(await standing()).toEqual(before)
  expect(before.items?.find(({ path }) => path === 'none')).toMatchObject({ status: 'failed', attempts: 1 })
})
