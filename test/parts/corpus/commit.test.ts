import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { capabilitiesOf } from '../../../src/core/queue/plan-leases.ts'
import { type Corpus, findCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import { plantItem } from '../../../src/parts/corpus/items/edit-item.ts'
import { findItem } from '../../../src/parts/corpus/items/item-row.ts'
import { beginPhase } from '../../../src/parts/corpus/phases/begin-phase.ts'
import { PhaseEffect } from '../../../src/parts/corpus/phases/phase-effect.ts'
import { orderPhase } from '../../../src/parts/corpus/phases/phase-run.ts'
import { lookAt, seeItem } from '../../../src/parts/corpus/tree/look-item.ts'
import { putCorpus } from '../../../src/parts/corpus/write-corpus.ts'
import { reclaim } from '../../../src/store/leases/reclaim.ts'
import { settle } from '../../../src/store/leases/settle.ts'
import { actor, onEachDatabase, type Scene, startAt } from '../../store/scene.ts'
import { corpusSpec } from './spec.ts'

const success = { kind: 'success' } as const

/** An item whose first phase was leased and has answered; only its end is left. */
async function begun(scene: Scene) {
  const root = mkdtempSync(join(tmpdir(), 'belfry-commit-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const corpus = await scene.write(function* (context) {
    yield* putCorpus(context, { ...corpusSpec, name: 'c', root }, { actor, mode: 'create', rootId: 'x' })
    yield* plantItem(context, 'c', { path: 'a' })
    const made = (yield* findCorpus(context, 'c')) as Corpus
    yield* orderPhase(context, made, { path: 'a', mode: 'trigger' })
    return made
  })
  const can = { ...capabilitiesOf([{ kind: 'corpus', name: 'c' }]), host: false }
  const [lease] = await scene.lease({ queue: 'corpus:c', can })
  if (lease === undefined) throw new Error('It was not leased.')
  const { runId: run, fence } = lease
  const order = { path: 'a', mode: 'trigger' } as const
  const seen = await seeItem(corpus, { path: 'a', parent: null, depth: 0 })
  const phase = await scene.write((context) => beginPhase(context, 'c', { order, run, seen }))
  if ('nothing' in phase) throw new Error(phase.nothing)
  const answer = { kind: 'success', fields: { _builder: 'the plan' }, inputs: phase.consumed } as const
  const effect = new PhaseEffect({ order, commit: { run, fence }, begun: phase, end: answer, now: startAt })
  const file = join(root, 'a/.meta/meta.json')
  return {
    effect,
    end: { ...lease, outcome: success, effect },
    document: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>,
    edit: (fields: object) =>
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...fields })),
    item: () => scene.read(() => findItem(corpus.id, 'a')),
    look: async () => {
      const again = await seeItem(corpus, { path: 'a', parent: null, depth: 0 })
      await scene.write(function* (context) {
        yield* lookAt((yield* findCorpus(context, 'c')) as Corpus, again === null ? [] : [again])
      })
    },
  }
}

onEachDatabase('the commit of a phase', (scene) => {
  it('writes nothing before its fence is checked, and is repeated without a second revision when its transaction is not committed', async () => {
    const { end, document, item } = await begun(scene())
    expect(document()).not.toHaveProperty('_builder')
    const [late] = await scene().write((context) => settle(context, [{ ...end, fence: end.fence + 1 }]))
    expect([late?.answer, document()._builder]).toEqual(['lease-lost', undefined])
    const crash = scene().write(function* (context) {
      yield* settle(context, [end])
      throw new Error('the power is gone')
    })
    await expect(crash).rejects.toThrow('the power is gone')
    expect(document()).toMatchObject({ _builder: 'the plan', _revision: 1 })
    expect((await item())?.status).toBe('running')
    const [settled] = await scene().write((context) => settle(context, [end]))
    expect(settled).toMatchObject({ answer: 'written', status: 'completed' })
    expect(document()).toMatchObject({
      _builder: 'the plan',
      _revision: 1,
      _commit: { run: end.runId, fence: end.fence },
    })
    expect(await item()).toMatchObject({ status: 'pending', phase: 'builder', attempts: 0, runId: null })
  })

  it('that was renamed before its worker died is booked once by the next look, and costs no attempt', async () => {
    const { effect, document, item, look } = await begun(scene())
    effect.take(success)
    scene().clock.now += 86_400_000
    await scene().write((context) => reclaim(context, { limit: 10 }))
    expect(await item()).toMatchObject({ status: 'failed', phase: 'architect', attempts: 1, runId: null })
    await look()
    expect(await item()).toMatchObject({ status: 'pending', phase: 'builder', attempts: 0, revision: 1 })
    expect(document()._revision).toBe(1)
  })

  it('keeps an edit that came between, and refuses nothing of it', async () => {
    const { end, edit, document } = await begun(scene())
    edit({ owner: 'me', _steer: 'mine' })
    await scene().write((context) => settle(context, [end]))
    expect(document()).toMatchObject({ owner: 'me', _steer: 'mine', _builder: 'the plan' })
  })

  it('of a document that was deleted or torn meanwhile fails the phase, and writes nothing', async () => {
    const { end, item } = await begun(scene())
    const { root } = end.effect.begun?.corpus.spec ?? {}
    writeFileSync(join(root as string, 'a/.meta/meta.json'), '{"torn')
    await scene().write((context) => settle(context, [end]))
    expect(readFileSync(join(root as string, 'a/.meta/meta.json'), 'utf8')).toBe('{"torn')
    expect(await item()).toMatchObject({ attempts: 1, runId: null })
  })
})
