import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CorpusScene } from './scene.ts'

it('a tick seeds the folders that its rules match, never one that a person deleted, and never inside .meta', async () => {
  const rules = [
    { match: '**/*.md', steer: 'all' },
    { match: 'guide/*.md', crossRefs: ['api'] },
  ]
  const scene = await CorpusScene.open({ autoSeed: rules, ignore: ['drafts'] })
  for (const path of ['guide/a.md', 'api/b.md', 'drafts/c.md', 'code/d.ts']) scene.write(path, 'x')
  const { corpora } = scene.belfry
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
