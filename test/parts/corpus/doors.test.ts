import { mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { phaseForms } from '../../../src/core/corpus/derive-phases.ts'
import { phaseAnswer } from '../../../src/parts/corpus/phases/phase-answer.ts'
import { CorpusScene, plainly, type StoreKind } from './scene.ts'

const refusalOf = async (call: Promise<unknown>) => {
  const error = (await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )) as { code?: string; message?: string } | null
  return [error?.code ?? 'accepted', error?.message ?? '']
}

it('wrong input to a corpus is refused whole, with what is right', async () => {
  const scene = await CorpusScene.open({})
  const { corpora, schedules } = scene.belfry
  await scene.seed('a')
  const outside = mkdtempSync(join(tmpdir(), 'belfry-outside-'))
  symlinkSync(outside, join(scene.root, 'link'))
  mkdirSync(join(scene.root, 'inner'))
  const target = { handler: 'write' }
  const refusals: [() => Promise<unknown>, string, RegExp][] = [
    [() => corpora.status('none'), 'not-found', /no corpus "none"/],
    [() => corpora.item('notes', 'none'), 'not-found', /no item "none"/],
    [() => corpora.item('notes', '../up'), 'invalid', /path/],
    [() => corpora.item('notes', 'a\0b'), 'invalid', /path/],
    [() => corpora.seed({ name: 'notes', path: 'link/x' }), 'invalid', /symbolic link/],
    [() => corpora.seed({ name: 'notes', path: 'link/x/y' }), 'invalid', /symbolic link/],
    [() => corpora.seed({ name: 'notes', path: 'link' }), 'invalid', /symbolic link/],
    [() => corpora.seed({ name: 'notes', path: 'a' }), 'conflict', /revision/],
    [() => corpora.seed({ name: 'notes', path: 'a', dryRun: true }), 'conflict', /revision/],
    [() => corpora.update('notes', 'a', { emphasis: -1 }), 'invalid', /emphasis/],
    [() => corpora.update('notes', 'a', { emphasis: Number.NaN }), 'invalid', /emphasis/],
    [() => corpora.update('notes', 'a', { mood: 'glad' } as never), 'invalid', /mood/],
    [() => corpora.update('notes', 'a', { steer: 'x', ifRevision: 7 }), 'conflict', /revision 0, not 7/],
    [() => corpora.trigger({ name: 'notes', path: 'a', from: 'poet' }), 'invalid', /architect, builder, critic/],
    [() => corpora.put({ name: 'notes', root: scene.root, target, drain: true }), 'invalid', /without a budget/],
    [() => corpora.put({ name: 'notes', root: scene.root, target, cron: '* *' }), 'invalid', /cron/],
    [
      () => corpora.put({ name: 'n', target, phases: [{ name: 'x', writes: ['_x', '_steer'] }] }),
      'invalid',
      /phases\[0\].writes has _steer/,
    ],
    [() => corpora.put({ name: 'n', target, prompts: { critic: 'none.md' } }), 'invalid', /does not exist/],
    [() => corpora.put({ name: 'notes', root: outside, target }), 'conflict', /would get/],
    [() => corpora.create({ name: 'other', root: join(scene.root, 'inner'), target }), 'conflict', /notes/],
    [() => corpora.create({ name: 'other', root: scene.root, target }), 'conflict', /notes/],
    [() => corpora.create({ name: 'other', root: '/nowhere/at/all', target }), 'invalid', /does not exist/],
    [() => corpora.create({ name: 'notes', target }), 'conflict', /another definition/],
    [
      () => corpora.put({ name: 'notes', root: scene.root, target: { corpus: { path: 'a' } } as never }),
      'invalid',
      /only a corpus/,
    ],
    [() => corpora.putItem({ name: 'notes', path: 'b', sources: {} }), 'conflict', /files below/],
    [() => schedules.update('corpus:notes', { every: '5m' }), 'conflict', /belongs to corpus notes/],
    [() => schedules.put({ name: 'corpus:notes', every: '5m', target }), 'conflict', /belongs to corpus notes/],
    [() => schedules.delete('corpus:notes'), 'conflict', /belongs to corpus notes/],
    [() => schedules.create({ name: 'corpus:new', every: '5m', target }), 'invalid', /begins with corpus:/],
  ]
  for (const [call, code, message] of refusals) {
    const [found, said] = await refusalOf(call())
    expect([found, message.test(String(said)) || said]).toEqual([code, true])
  }
  expect((await corpora.get('notes')).cron).toBe('*/30 * * * *')
  expect(readdirSync(outside)).toEqual([])
  expect((await schedules.pause('corpus:notes', { for: '8h' })).paused).not.toBeNull()
})

it('a seed in a folder that is absent or ignored is refused, also in a dry run, and nothing is made', async () => {
  const scene = await CorpusScene.open({})
  const { corpora } = scene.belfry
  await scene.seed('a')
  for (const folder of ['inner', '.git/hooks', 'drafts/old']) mkdirSync(join(scene.root, folder), { recursive: true })
  scene.write('.gitignore', 'drafts/\n')
  scene.write('unindexed/.meta/meta.json', '{}')
  const refusals: [object, string, RegExp][] = [
    [{ path: 'typo/deep' }, 'invalid', /does not exist/],
    [{ path: 'typo/deep', dryRun: true }, 'invalid', /does not exist/],
    [{ path: '.git/hooks' }, 'invalid', /\.git, which the corpus ignores/],
    [{ path: 'inner/node_modules', create: true }, 'invalid', /ignores/],
    [{ path: 'drafts/old' }, 'invalid', /drafts, which the corpus ignores/],
    [{ path: 'a/README.md' }, 'invalid', /is a file/],
    [{ path: 'unindexed', dryRun: true }, 'conflict', /revision/],
  ]
  for (const [given, code, message] of refusals) {
    const [found, said] = await refusalOf(corpora.seed({ name: 'notes', ...given }))
    expect([given, found, message.test(String(said)) || said]).toEqual([given, code, true])
  }
  const made = ['typo', '.git/hooks/.meta', 'drafts/old/.meta', 'inner/node_modules']
  expect(made.filter((path) => scene.has(path))).toEqual([])
  await corpora.seed({ name: 'notes', path: 'new/deep', create: true })
  expect(scene.has('new/deep/.meta/meta.json')).toBe(true)
})

it('an answer that is empty, a sentinel, too large, or beyond its phase fails the phase and leaves the document', async () => {
  const scene = await CorpusScene.open({ attempts: 100 })
  await scene.seed('a')
  const wrong: [unknown, string][] = [
    ['', 'empty'],
    ['NO_REPLY', 'NO_REPLY'],
    [null, 'empty'],
    [['x'], 'a list'],
    [{ _builder: 'x', _steer: 'mine' }, '_steer'],
    [{ _builder: 'x', extra: 1 }, 'extra'],
    [{ text: 'x' }, 'text'],
    ['x'.repeat(10_500_000), 'bytes'],
  ]
  for (const [answer, why] of wrong) {
    scene.answer = () => answer
    expect(await scene.play('a')).toBe('failed')
    const document = scene.document('a')
    expect(document).not.toHaveProperty('_builder')
    expect(document._error).toMatchObject({ step: 'architect', code: 'FAILED', message: expect.stringContaining(why) })
  }
})

it('the end of a long text is no answer, and an object is found in what a model says around it', () => {
  const [architect, builder] = phaseForms as [never, never]
  const half = { text: 'é'.repeat(50_000), incomplete: 'stdout is longer than what is kept of it' }
  expect(phaseAnswer(half, architect)).toEqual({ refused: expect.stringContaining('not whole') })
  const text = 'Here it is:\n```json\n{"_content":"c","usage":{"tokens":7}}\n```\nDone.'
  expect(phaseAnswer({ text }, builder)).toEqual({ fields: { _content: 'c' }, tokens: 7 })
  expect(phaseAnswer({ text: ' plain words ' }, builder)).toEqual({ fields: { _content: 'plain words' } })
})

it('an answer that is cut off in the middle of its JSON is no content: the phase fails, and the document stays', async () => {
  const [, builder] = phaseForms as [never, never]
  const cut = [
    '{"_content": "half',
    '```json\n{"_content": "half',
    '```json\n{"_content": "half\n```',
    '```\n{"_content": "half',
    'Here it is:\n```json\n{"_content": "half',
  ]
  for (const text of cut)
    expect([text, phaseAnswer({ text }, builder)]).toEqual([text, { refused: expect.stringContaining('cut off') }])
  const prose = [
    'Half a {brace} is prose.',
    'Use:\n```json\n{"a": 1}\n```\nand go on.',
    '```sh\n{ echo; }\n```',
    '```sh\nls',
  ]
  for (const text of prose) expect(phaseAnswer({ text }, builder)).toEqual({ fields: { _content: text } })

  const scene = await CorpusScene.open({})
  await scene.seed('a')
  await scene.settle()
  const before = scene.document('a')
  scene.answer = () => '{"_content": "half'
  const { run } = await scene.belfry.corpora.trigger({ name: 'notes', path: 'a', from: 'builder' })
  expect((await scene.belfry.runs.wait(run as string)).status).toBe('failed')
  expect(scene.document('a')).toMatchObject({ _content: before._content, _state: before._state })
})

it('triggers are answered with the first run of an item, go first in, first out, and are cleared alone', async () => {
  const scene = await CorpusScene.open({})
  await scene.seed('a', 'b', 'c')
  const { corpora, queues, runs } = scene.belfry
  await queues.pause('corpus:notes', { reason: 'to look at its line' })
  const first = await corpora.trigger({ name: 'notes', path: 'b' })
  const other = await corpora.trigger({ name: 'notes', path: 'a' })
  const again = await corpora.trigger({ name: 'notes', path: 'b' })
  expect([first.created, other.position, again]).toEqual([true, 1, { ...first, created: false, position: 0 }])
  const { overrides, automatic, current } = await corpora.queue('notes')
  expect([current, overrides.map(({ path }) => path), automatic.map(({ path }) => path)]).toEqual([
    [],
    ['b', 'a'],
    ['a', 'b', 'c'],
  ])
  expect(await corpora.clear('notes')).toEqual({ cleared: 2 })
  expect((await runs.get(first.run as string)).status).toBe('cancelled')
  expect((await corpora.queue('notes')).overrides).toEqual([])
  await corpora.update('notes', 'c', { disabled: true })
  expect((await corpora.list({ corpus: 'notes', owed: true })).items?.map(({ path }) => path)).toEqual(['a', 'b'])
  await queues.resume('corpus:notes')
  expect(await scene.play('c')).toBe('completed')
  await scene.settle()
  await queues.pause('corpus:notes', { reason: 'to look at its line' })
  for (const created of [true, false]) {
    const forced = await corpora.trigger({ name: 'notes', path: 'a', force: true })
    expect(forced).toMatchObject({ phase: 'architect', created })
  }
  expect((await corpora.queue('notes')).overrides).toMatchObject([{ path: 'a', phase: 'architect' }])
})

it('an abort cancels the phase at work at once and parks its item until it is released', async () => {
  const scene = await CorpusScene.open({})
  await scene.seed('a')
  let begun: () => void = () => undefined
  const atWork = new Promise<void>((resolve) => {
    begun = resolve
  })
  scene.answer = (_, { signal }) => {
    begun()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
  }
  const { corpora, runs } = scene.belfry
  const { run } = await corpora.trigger({ name: 'notes', path: 'a' })
  await atWork
  expect(await corpora.abort({ name: 'notes' })).toEqual({
    status: 'aborted',
    items: [{ path: 'a', phase: 'architect', run }],
  })
  expect((await runs.wait(run as string)).status).toBe('cancelled')
  expect(await scene.item('a')).toMatchObject({ status: 'parked', reason: expect.stringContaining('aborted') })
  expect(scene.document('a')._error).toMatchObject({ code: 'ABORT' })
  expect(await corpora.abort({ name: 'notes' })).toEqual({ status: 'idle', items: [] })
  scene.answer = plainly
  expect(await scene.belfry.corpora.release({ name: 'notes', all: true })).toEqual({ released: ['a'] })
  await scene.settle()
  expect((await scene.item('a')).status).toBe('fresh')
})

it('a corpus that drains goes on by itself until its budget is spent, and its tick says until when', async () => {
  const scene = await CorpusScene.open({ drain: true, budget: { phases: 4 } })
  await scene.seed('a', 'b')
  const { corpora, runs, schedules } = scene.belfry
  const { picked } = await corpora.tick('notes')
  let last = picked?.run
  while (scene.handed.length < 4) {
    await runs.wait(last as string)
    const { current, automatic } = await corpora.queue('notes')
    last = current[0]?.run ?? automatic.find(({ run }) => run !== null)?.run ?? last
  }
  const ended = await schedules.run('corpus:notes')
  const tick = await runs.wait(ended.id)
  expect([tick.status, tick.end?.reason]).toEqual(['skipped', expect.stringMatching(/^budget, until \d{4}/)])
  expect(scene.handed).toHaveLength(4)
})

it('a parent is rebuilt after its child, once, and two items that cite each other come to rest', async () => {
  const scene = await CorpusScene.open({ propagateAfterMs: 0 })
  await scene.seed('top', 'top/child', 'peer')
  await scene.belfry.corpora.update('notes', 'top/child', { crossRefs: ['peer'] })
  await scene.belfry.corpora.update('notes', 'peer', { crossRefs: ['top/child'] })
  const firsts = await scene.settle(60)
  expect(firsts).toBeLessThan(40)
  scene.handed.length = 0
  scene.write('top/child/README.md', 'changed')
  scene.answer = (handed, run) =>
    handed.item === 'top/child' && handed.phase === 'builder' ? { _content: 'another' } : plainly(handed, run)
  const phases = await scene.settle(60)
  expect(phases).toBeLessThan(40)
  const built = scene.handed.filter(({ phase }) => phase === 'builder').map(({ item }) => item)
  expect(built[0]).toBe('top/child')
  expect(built.filter((item) => item === 'top')).toHaveLength(1)
})

it.each<StoreKind>(['SQLite', 'PostgreSQL'])(
  'pages of owed items have each item once, whatever letters their paths have, on %s',
  async (kind) => {
    const { belfry } = await CorpusScene.open({ root: undefined }, { kind })
    const paths = ['a', '\u{ff41}', '\u{1f514}', '\u{1f515}']
    for (const path of paths) await belfry.corpora.putItem({ name: 'notes', path, sources: { text: path } })
    const found: string[] = []
    for (let after = ''; found.length <= paths.length; after = found.at(-1) as string) {
      const page = await belfry.corpora.list({ corpus: 'notes', owed: true, limit: 3, ...(after !== '' && { after }) })
      const items = 'items' in page ? page.items : []
      found.push(...items.map(({ path }) => path))
      if (items.length < 3) break
    }
    expect(found).toEqual(paths)
  },
)
