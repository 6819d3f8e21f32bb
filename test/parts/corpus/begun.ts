import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { PhaseEnd } from '../../../src/core/corpus/commit-phase.ts'
import { capabilitiesOf } from '../../../src/core/queue/plan-leases.ts'
import { type Corpus, findCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import { plantItem } from '../../../src/parts/corpus/items/edit-item.ts'
import { findItem } from '../../../src/parts/corpus/items/item-row.ts'
import { beginPhase } from '../../../src/parts/corpus/phases/begin-phase.ts'
import { type BegunPhase, PhaseEffect } from '../../../src/parts/corpus/phases/phase-effect.ts'
import { orderPhase } from '../../../src/parts/corpus/phases/phase-run.ts'
import { lookTogether } from '../../../src/parts/corpus/tree/scan-tree.ts'
import { seeItem } from '../../../src/parts/corpus/tree/see-item.ts'
import { putCorpus } from '../../../src/parts/corpus/write-corpus.ts'
import { actor, type Scene, startAt } from '../../store/scene.ts'
import { corpusSpec } from './spec.ts'

export const success = { kind: 'success' } as const

/** Leases the run of the item and begins its phase, which ends as given. */
export async function attempted(scene: Scene, corpus: Corpus, endOf: (phase: BegunPhase) => PhaseEnd) {
  const can = { ...capabilitiesOf([{ kind: 'corpus', name: 'c' }]), host: false }
  const [lease] = await scene.lease({ queue: 'corpus:c', can })
  if (lease === undefined) throw new Error('It was not leased.')
  const { runId: run, fence } = lease
  const order = { path: 'a', mode: 'trigger' } as const
  const seen = await seeItem(corpus, { path: 'a', parent: null, depth: 0 })
  const phase = await scene.write((context) => beginPhase(context, 'c', { order, run, seen }))
  if ('nothing' in phase) throw new Error(phase.nothing)
  const effect = new PhaseEffect({ order, commit: { run, fence }, begun: phase, end: endOf(phase), now: startAt })
  return { lease, effect }
}

/** An item whose first phase was leased and has answered; only the end of the phase is missing. */
export async function begun(scene: Scene) {
  const root = mkdtempSync(join(tmpdir(), 'belfry-commit-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const corpus = await scene.write(function* (context) {
    yield* putCorpus(context, { ...corpusSpec, name: 'c', root }, { actor, mode: 'create', rootId: 'x' })
    yield* plantItem(context, 'c', { path: 'a' })
    const made = (yield* findCorpus(context, 'c')) as Corpus
    yield* orderPhase(context, made, { path: 'a', mode: 'trigger' })
    return made
  })
  const { lease, effect } = await attempted(scene, corpus, ({ consumed: inputs }) => ({
    kind: 'success',
    fields: { _builder: 'the plan' },
    inputs,
  }))
  const file = join(root, 'a/.meta/meta.json')
  return {
    corpus,
    effect,
    end: { ...lease, outcome: success, effect },
    document: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>,
    edit: (fields: object) =>
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...fields })),
    item: () => scene.read(() => findItem(corpus.id, 'a')),
    look: async () => {
      const known = await scene.read(() => findItem(corpus.id, 'a'))
      const again = await seeItem(corpus, { path: 'a', parent: null, depth: 0 }, { known })
      await scene.write((context) => lookTogether(context, 'c', again === null ? [] : [again]))
    },
  }
}
