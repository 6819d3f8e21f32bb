import fc from 'fast-check'
import { expect, it } from 'vitest'
import { soundState } from '../../../src/core/corpus/phases.ts'
import { rankItems } from '../../../src/core/corpus/rank.ts'
import type { Corpus } from '../../../src/parts/corpus/corpus-row.ts'
import { lockCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import { type Item, placed, removeItems, saveItems } from '../../../src/parts/corpus/items/item-row.ts'
import { lineOf } from '../../../src/parts/corpus/items/pick-item.ts'
import { putCorpus } from '../../../src/parts/corpus/write-corpus.ts'
import { actor, onEachDatabase, startAt } from '../../store/scene.ts'
import { corpusSpec } from './spec.ts'

const names = ['architect', 'builder', 'critic']
const status = fc.constantFrom('fresh', 'stale', 'pending', 'failed')
const item = fc.record({
  depth: fc.integer({ min: -1, max: 3 }),
  emphasis: fc.constantFrom(0, 0.5, 1, 2),
  generatedAt: fc.option(fc.integer({ min: startAt - 1_000_000, max: startAt }), { nil: null }),
  stored: fc.record({ architect: status, builder: status, critic: status }),
  isDisabled: fc.constantFrom(false, false, false, true),
  reason: fc.constantFrom(null, null, null, 'parked'),
})

onEachDatabase('the picks of a corpus', (scene) => {
  it('by groups are those over the whole corpus, whatever its items are, and however they change', async () => {
    await scene().write((context) => putCorpus(context, corpusSpec, { actor, mode: 'create', rootId: 'x' }))
    const look = (count: number) =>
      scene().write(function* (context) {
        const corpus = yield* lockCorpus(context, 'ranked')
        return corpus === null ? [] : (yield* lineOf(corpus, count)).ranked
      })
    let standing = new Map<string, Item>()
    const histories = fc.sample(fc.array(item, { minLength: 1, maxLength: 25 }), { numRuns: 12, seed: 24 })
    for (const given of histories) {
      const items = await scene().write(function* (context) {
        const corpus = (yield* lockCorpus(context, 'ranked')) as Corpus
        const fresh = given.map(({ stored, isDisabled, ...rest }, index): Item => {
          const blank = {
            corpusId: corpus.id,
            path: `p${index % 18}`,
            parent: null,
            attempts: 0,
            nextAt: null,
            runId: null,
          }
          const more = { revision: 0, hash: 'h', isDirty: false, lookedAt: null, facts: { isDisabled }, document: '{}' }
          return placed({ ...blank, ...more, ...rest, state: soundState(stored, names) }, corpus)
        })
        const byPath = new Map(fresh.map((one) => [one.path, one]))
        const gone = [...standing.values()].filter(({ path }) => !byPath.has(path))
        yield* removeItems(gone)
        yield* saveItems([...byPath.values()].map((after) => ({ before: standing.get(after.path) ?? null, after })))
        return byPath
      })
      standing = items
      const whole = rankItems({
        now: startAt,
        depthWeight: 0.5,
        items: [...items.values()].map(({ path, depth, emphasis, generatedAt, state, facts, reason }) => {
          const disabled = facts.isDisabled === true || reason !== null
          return { path, depth, emphasis, generatedAt, phaseState: state, disabled }
        }),
      })
      for (const count of [1, 3, 100]) expect(await look(count)).toEqual(whole.slice(0, count))
    }
  })
})
