import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { CorpusScene, plainly, type StoreKind } from './scene.ts'

const day = 86_400_000

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('the forecast of a corpus on %s', (kind) => {
  it('begins at the end of a spent budget, which status, tick and trigger name', async () => {
    const scene = await CorpusScene.open({ drain: true, budget: { phases: 1 } }, { kind })
    const { corpora } = scene.belfry
    await scene.seed('a', 'b')
    expect((await corpora.status('notes')).held).toBeNull()
    await scene.play('a')
    const { held, freshAt, backlog } = await corpora.status('notes')
    expect(held).toMatchObject({ says: expect.stringMatching(/budget/i), until: expect.any(Number) })
    expect(freshAt).toBe((held?.until ?? 0) + (backlog.phases - 1) * day)
    const until = new Date(held?.until ?? 0).toISOString()
    const { says } = await corpora.tick('notes')
    expect(says).toContain(`its phases are held (budget, until ${until})`)
    expect((await corpora.trigger({ name: 'notes', path: 'b' })).held).toEqual(held)
  })

  it('is not given while nothing says when phases start again', async () => {
    const scene = await CorpusScene.open({}, { kind })
    const { corpora, queues, schedules } = scene.belfry
    await scene.seed('a')
    expect((await corpora.status('notes')).freshAt).toEqual(expect.any(Number))
    await queues.pause('corpus:notes', { reason: 'to look at its line' })
    expect(await corpora.status('notes')).toMatchObject({ freshAt: null, held: { until: null } })
    expect((await corpora.trigger({ name: 'notes', path: 'a' })).held).toMatchObject({ until: null })
    await queues.resume('corpus:notes')
    await schedules.pause('corpus:notes', { for: '8h' })
    expect(await corpora.status('notes')).toMatchObject({ freshAt: null, paused: true, held: null })
  })
})

it('the forecast of a corpus without its root is not given, and a trigger says why its run waits', async () => {
  const scene = await CorpusScene.open({})
  const { corpora } = scene.belfry
  await scene.seed('a')
  await scene.belfry.stop()
  rmSync(join(scene.root, '.meta/corpus.json'))
  expect(await corpora.status('notes')).toMatchObject({
    freshAt: null,
    problem: expect.stringContaining('corpus.json'),
  })
  expect((await corpora.trigger({ name: 'notes', path: 'a' })).held?.says).toContain(scene.root)
})

it('the forecast of a corpus that drains takes a phase to last as long as the last ones did', async () => {
  const clock = new TestClock()
  const scene = await CorpusScene.open({ root: undefined, drain: true, withoutBudget: true }, { clock })
  const { corpora } = scene.belfry
  for (const path of ['a', 'b']) await corpora.putItem({ name: 'notes', path })
  expect((await corpora.status('notes')).backlog.drainMs).toBe(6 * 61_000)
  scene.answer = (handed, run) => {
    clock.set(clock.now() + 10_000)
    return plainly(handed, run)
  }
  const { picked } = await corpora.tick('notes')
  await scene.belfry.runs.wait(picked?.run as string)
  const { backlog } = await corpora.status('notes')
  expect(backlog.drainMs).toBe(backlog.phases * 10_000)
})
