import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { unfence } from '../../../src/core/untrusted-text.ts'
import { RunFailure } from '../../../src/index.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { type Answer, CorpusScene, plainly, type StoreKind } from './scene.ts'

const item = { name: 'notes', path: 'a' }
const failing: Answer = () => 'NO_REPLY'

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('on %s an item whose phase fails', (kind) => {
  it.each([
    ['*/30 * * * *', [3_600_000, 7_200_000, 14_400_000, 28_800_000]],
    ['0 */8 * * *', [57_600_000, 86_400_000, 86_400_000, 86_400_000]],
  ])(
    'waits twice as long after each failure, by the ticks of %s, at most a day, and is parked after the last',
    async (cron, waits) => {
      const scene = await CorpusScene.open({ root: undefined, cron, zone: 'UTC' }, { kind })
      const { corpora, runs } = scene.belfry
      await corpora.putItem(item)
      scene.answer = failing
      const found: (number | null)[] = []
      for (let failure = 1; failure <= 5; failure += 1) {
        const { run } = await corpora.trigger(item)
        const { end } = await runs.wait(run as string)
        const { nextAt } = await scene.item('a')
        found.push(nextAt === null ? null : nextAt - (end?.at ?? 0))
      }
      expect(found).toEqual([...waits, null])
      const { item: standing, says, nextAt } = await corpora.explain(item)
      expect([standing.status, standing.attempts, nextAt]).toEqual(['parked', 5, null])
      expect(says).toBe(
        'architect is parked: failed 5 times, at last: the answer is NO_REPLY, which says that there is none. Let it go on: `belfry corpus release notes a`.',
      )
    },
  )

  it('stays parked while nothing changes, and goes on after another input, an edit, a trigger or a release', async () => {
    const scene = await CorpusScene.open({ attempts: 1 }, { kind })
    const { corpora } = scene.belfry
    await scene.seed('a')
    const park = async () => {
      scene.answer = failing
      expect(await scene.play('a')).toBe('failed')
      for (let look = 0; look < 2; look += 1) await corpora.scan({ name: 'notes', full: true })
      expect((await scene.item('a')).status).toBe('parked')
    }
    await park()
    scene.write('a/more.md', 'another name')
    await corpora.scan('notes')
    expect(await scene.item('a')).toMatchObject({ status: 'pending', attempts: 0, reason: null })
    await park()
    await corpora.update({ ...item, steer: 'Shorter.' })
    expect((await scene.item('a')).status).toBe('pending')
    await park()
    expect(await corpora.release({ ...item, path: 'a' })).toEqual({ released: ['a'] })
    expect((await scene.item('a')).status).toBe('pending')
    await park()
    scene.answer = plainly
    expect(await scene.play('a')).toBe('completed')
    expect(await scene.item('a')).toMatchObject({ status: 'pending', phase: 'builder', attempts: 0 })
  })

  it('and that runs out of time keeps the state that it has written, and nothing else of its answer', async () => {
    const forms = [
      { name: 'architect', writes: ['_builder'] },
      { name: 'builder', writes: ['_content', '_state'], timeout: '50ms' },
    ]
    const scene = await CorpusScene.open({ root: undefined, phases: forms }, { kind })
    await scene.belfry.corpora.putItem(item)
    expect(await scene.play('a')).toBe('completed')
    scene.answer = (_, { signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ _content: 'half', title: 'half', _state: { page: 3 } })),
      )
    expect(await scene.play('a')).toBe('failed')
    const { document } = await scene.belfry.corpora.item(item)
    expect(document).toMatchObject({ _state: { page: 3 }, _error: { step: 'builder', code: 'TIMEOUT' } })
    expect([document._content, document.title]).toEqual([undefined, undefined])
    scene.answer = plainly
    expect(await scene.play('a')).toBe('completed')
    expect(JSON.parse(unfence(scene.handed.at(-1)?.state ?? '') ?? '')).toEqual({ page: 3 })
  })
})

it('what a refused answer used counts for the budget and the run, and what a target reports beside its answer too', async () => {
  const scene = await CorpusScene.open({ root: undefined, cron: '0 0 1 1 *', budget: { tokens: 200 } })
  const { corpora, runs } = scene.belfry
  await corpora.putItem(item)
  const used = async () => {
    const { run } = await corpora.trigger(item)
    const { status } = await runs.wait(run as string)
    const { result } = await runs.get(run as string)
    return [
      status,
      (result?.value as { tokens?: number } | undefined)?.tokens,
      (await corpora.status('notes')).held !== null,
    ]
  }
  scene.answer = (_, run) => {
    run.usage({ tokensIn: 40, tokensOut: 2 })
    return 'The plan.'
  }
  expect(await used()).toEqual(['completed', 42, false])
  expect((await corpora.item(item)).document).toMatchObject({ _architectTokens: 42 })
  scene.answer = () => ({ _content: '', usage: { tokens: 158 } })
  expect(await used()).toEqual(['failed', 158, true])
  expect((await scene.item('a')).attempts).toBe(1)
})

it('an answer that is not what its target is expected to say fails the phase, and a target of its own has its own expectation', async () => {
  const scene = await CorpusScene.open({
    root: undefined,
    cron: '0 0 1 1 *',
    expect: { textIncludes: 'Plan:' },
    targets: [{ phase: 'builder', target: { handler: 'write' }, expect: { json: { title: 'A' } } }],
  })
  const { corpora } = scene.belfry
  await corpora.putItem(item)
  const reason = async () => (await scene.item('a')).reason
  expect([await scene.play('a'), await reason()]).toEqual(['failed', expect.stringContaining('expect.textIncludes')])
  scene.answer = ({ phase }) => (phase === 'builder' ? { _content: 'Text.', title: 'B' } : 'Plan: none.')
  expect([await scene.play('a'), await reason()]).toEqual(['completed', null])
  expect([await scene.play('a'), await reason()]).toEqual(['failed', expect.stringContaining('expect.json: title')])
  scene.answer = () => ({ _content: 'Text.', title: 'A' })
  expect([await scene.play('a'), await reason()]).toEqual(['completed', null])
  const wrong = { name: 'notes', target: { handler: 'write' }, expect: { statuses: [200], anomaly: 3 } }
  await expect(corpora.put(wrong)).rejects.toThrow(/expect.statuses does not apply.*expect.anomaly means nothing/s)
})

it('a phase whose provider refuses by its limit waits until the limit opens, and its item has not failed', async () => {
  const scene = await CorpusScene.open({ root: undefined, cron: '0 0 1 1 *' })
  const { corpora, runs } = scene.belfry
  await corpora.putItem(item)
  scene.answer = () => {
    throw new RunFailure('429', { rateLimited: { resetAt: '2100-01-01T00:00:00Z' } })
  }
  const { run } = await corpora.trigger(item)
  await expect.poll(async () => [scene.handed.length, (await runs.get(run as string)).status]).toEqual([1, 'ready'])
  expect(await scene.item('a')).toMatchObject({ status: 'pending', attempts: 0, reason: null, run: null })
  expect((await corpora.item(item)).document).not.toHaveProperty('_error')
  expect((await corpora.queue('notes')).overrides).toMatchObject([{ path: 'a', run }])
})

it('a command that runs out of time keeps the state that it has left in its result file', async () => {
  const clock = new TestClock()
  const begun = 'begun'
  const script = `echo '{"_state":{"page":3}}' > "$BELFRY_RESULT_FILE"; cat > /dev/null; touch ${begun}; exec sleep 600`
  const forms = [{ name: 'builder', writes: ['_content', '_state'], timeout: '5s' }]
  const scene = await CorpusScene.open({ phases: forms }, { clock })
  const { corpora, runs } = scene.belfry
  const target = { command: ['/bin/sh', '-c', script] as const, cwd: scene.folder }
  await corpora.put({ name: 'notes', root: scene.root, phases: forms, target })
  await scene.seed('a')
  const { run } = await corpora.trigger(item)
  while (!existsSync(join(scene.folder, begun))) await nextTurn()
  const ended = runs.wait(run as string)
  clock.advance(5_000)
  expect((await ended).status).toBe('failed')
  expect(scene.document('a')).toMatchObject({ _state: { page: 3 }, _error: { code: 'TIMEOUT' } })
})

it('a failed item is picked again by the first tick after its instant, and by none before', async () => {
  const clock = new TestClock()
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *', root: undefined }, { clock })
  const { corpora } = scene.belfry
  await corpora.putItem(item)
  scene.answer = failing
  expect(await scene.play('a')).toBe('failed')
  const { nextAt } = await scene.item('a')
  await scene.belfry.stop()
  clock.set((nextAt ?? 0) - 1)
  expect((await corpora.tick('notes')).picked).toBeNull()
  clock.set(nextAt ?? 0)
  expect((await corpora.tick('notes')).picked).toMatchObject({ path: 'a', phase: 'architect' })
})

it('one item among a hundred that always fails is parked after five attempts, and the other ninety-nine are fresh', async () => {
  const scene = await CorpusScene.open({ root: undefined, cron: '0 0 1 1 *', drain: true, withoutBudget: true })
  const { corpora } = scene.belfry
  const paths = Array.from({ length: 100 }, (_, number) => `item${number}`)
  for (const path of paths) await corpora.putItem({ name: 'notes', path })
  scene.answer = (handed, run) => {
    if (handed.item === 'item50' && handed.phase === 'critic') throw new Error('no view')
    return plainly(handed, run)
  }
  await corpora.tick('notes')
  const counts = async () => (await corpora.status('notes')).counts
  await expect.poll(counts, { timeout: 60_000 }).toEqual({ fresh: 99, failed: 1 })
  for (let attempt = 2; attempt <= 5; attempt += 1) expect(await scene.play('item50')).toBe('failed')
  expect(await counts()).toEqual({ fresh: 99, parked: 1 })
  expect((await corpora.explain('notes', 'item50')).says).toMatch(
    /^critic is parked: failed 5 times, at last: .*no view/,
  )
}, 90_000)
