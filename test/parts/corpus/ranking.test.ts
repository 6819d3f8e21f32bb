import fc from 'fast-check'
import { expect, it } from 'vitest'
import { soundState } from '../../../src/core/corpus/phases.ts'
import { rankItems } from '../../../src/core/corpus/rank.ts'
import type { Corpus } from '../../../src/parts/corpus/corpus-row.ts'
import { lockCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import { explainItem } from '../../../src/parts/corpus/items/explain-item.ts'
import { type Item, placed, removeItems, saveItems } from '../../../src/parts/corpus/items/item-row.ts'
import { groupsMax, lineOf } from '../../../src/parts/corpus/items/pick-item.ts'
import { putCorpus } from '../../../src/parts/corpus/write-corpus.ts'
import { actor, onEachDatabase, startAt } from '../../store/scene.ts'
import { corpusSpec } from './spec.ts'

const names = ['architect', 'builder', 'critic']
const status = fc.constantFrom('fresh', 'stale', 'pending', 'failed')
/** Many items are of the group that comes first, so that the order within a group decides too. */
const item = fc.record({
  depth: fc.constantFrom(-1, 0, 1, 1, 1, 1, 3),
  emphasis: fc.constantFrom(0, 0.5, 1, 1, 1, 1, 2),
  generatedAt: fc.option(
    fc.oneof(fc.integer({ min: startAt - 1_000_000, max: startAt }), fc.constantFrom(startAt - 5_000, startAt)),
    { nil: null },
  ),
  stored: fc.oneof(
    fc.record({ architect: status, builder: status, critic: status }),
    fc.constant({ architect: 'fresh', builder: 'fresh', critic: 'pending' }),
  ),
  isDisabled: fc.constantFrom(false, false, false, true),
  reason: fc.constantFrom(null, null, null, 'parked'),
})

/** Equal instants and weights are common, so that ties are too. */
const ranked = (items: ReadonlyMap<string, Item>) =>
  [...items.values()].map(({ path, depth, emphasis, generatedAt, state, facts, reason }) => {
    const disabled = facts.isDisabled === true || reason !== null
    return { path, depth, emphasis, generatedAt, phaseState: state, disabled }
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
    const histories = fc.sample(fc.array(item, { minLength: 1, maxLength: 60, size: 'max' }), { numRuns: 12, seed: 24 })
    for (const given of histories) {
      const items = await scene().write(function* (context) {
        const corpus = (yield* lockCorpus(context, 'ranked')) as Corpus
        const fresh = given.map(({ stored, isDisabled, ...rest }, index): Item => {
          const blank = {
            corpusId: corpus.id,
            path: `p${index % 45}`,
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
        items: ranked(items),
      })
      const places = await scene().write(function* (context) {
        const corpus = (yield* lockCorpus(context, 'ranked')) as Corpus
        const found: Record<string, [path: string, place: number][]> = {}
        for (const [by, picks] of [
          ['bands', 0],
          ['staleness', 19],
        ] as const) {
          const ofAll: [string, number][] = []
          for (const one of items.values()) {
            const { place } = yield* explainItem(context, { ...corpus, picks }, one)
            if (place !== null) ofAll.push([one.path, place])
          }
          found[by] = ofAll.sort(([, one], [, other]) => one - other)
        }
        return found
      })
      for (const by of ['bands', 'staleness'] as const) {
        const inOrder = rankItems({ now: startAt, depthWeight: 0.5, items: ranked(items), by })
        expect([by, places[by]]).toEqual([by, inOrder.map(({ path }, at) => [path, at + 1])])
      }
      for (const count of [1, 3, 100]) expect(await look(count)).toEqual(whole.slice(0, count))
    }
  })
})

onEachDatabase('the picks of a corpus with more than a thousand groups', (scene) => {
  it('are those over the whole corpus too', async () => {
    const count = 1_001
    const [picked, whole] = await scene().write(function* (context) {
      yield* putCorpus(context, corpusSpec, { actor, mode: 'create', rootId: 'x' })
      const corpus = (yield* lockCorpus(context, 'ranked')) as Corpus
      const items = Array.from({ length: count }, (_, at): Item => {
        const place = { corpusId: corpus.id, path: `p${at}`, parent: null, depth: at % 7, emphasis: at / 500 }
        const rest = { attempts: 0, nextAt: null, reason: null, runId: null, revision: 0, hash: 'h', isDirty: false }
        const more = {
          lookedAt: null,
          facts: {},
          document: '{}',
          generatedAt: startAt - ((at * 7_919) % 10_007) * 1_000,
        }
        const stored = { architect: 'fresh', builder: at % 2 === 0 ? 'fresh' : 'pending', critic: 'pending' }
        return placed({ ...place, ...rest, ...more, state: soundState(stored, names) }, corpus)
      })
      yield* saveItems(items.map((after) => ({ before: null, after })))
      const line = yield* lineOf(corpus, 20)
      expect(line.groups.length).toBeGreaterThan(groupsMax)
      const byPath = new Map(items.map((one) => [one.path, one]))
      return [line.ranked, rankItems({ now: startAt, depthWeight: 0.5, items: ranked(byPath) })]
    })
    expect(picked).toEqual(whole?.slice(0, 20))
  })
})

onEachDatabase('every 20th pick', (scene) => {
  it('leaves the bands out, so that builds of new content cannot keep an old item from its plan for ever', async () => {
    const picked = await scene().write(function* (context) {
      yield* putCorpus(context, corpusSpec, { actor, mode: 'create', rootId: 'x' })
      const corpus = (yield* lockCorpus(context, 'ranked')) as Corpus
      const waiting = [
        ['old', 'architect', 9_000_000],
        ['busy', 'builder', 1_000],
      ] as const
      for (const [path, phase, age] of waiting) {
        const place = { corpusId: corpus.id, path, parent: null, depth: 0, emphasis: 1, generatedAt: startAt - age }
        const rest = { attempts: 0, nextAt: null, reason: null, runId: null, revision: 0, hash: 'h', isDirty: false }
        const stored = { architect: phase === 'builder' ? 'fresh' : 'pending', builder: 'pending', critic: 'pending' }
        const more = { lookedAt: null, facts: {}, document: '{}', state: soundState(stored, names) }
        yield* saveItems([{ before: null, after: placed({ ...place, ...rest, ...more }, corpus) }])
      }
      const first: (string | undefined)[] = []
      for (let picks = 0; picks < 40; picks += 1) first.push((yield* lineOf({ ...corpus, picks }, 1)).ranked[0]?.path)
      return first
    })
    expect(picked.flatMap((path, pick) => (path === 'old' ? [pick + 1] : []))).toEqual([20, 40])
    expect(picked.filter((path) => path === 'busy')).toHaveLength(38)
  })
})
