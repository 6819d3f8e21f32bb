import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Corpus, findCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import { pathsWithin } from '../../../src/parts/corpus/items/list-items.ts'
import { scanTree } from '../../../src/parts/corpus/tree/scan-tree.ts'
import type { KindStore } from '../../../src/targets/kind.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
const items = 450

/** A store that counts how many pages of paths are read before the event loop has its turn. */
function counting(store: KindStore) {
  const pages = { inTurn: 0, most: 0, all: 0 }
  const look: KindStore['look'] = (read, ...input) => {
    if ((read as unknown) === pathsWithin) {
      pages.all += 1
      pages.most = Math.max(pages.most, ++pages.inTurn)
      setImmediate(() => {
        pages.inTurn = 0
      })
    }
    return store.look(read, ...input)
  }
  const bound = (of: KindStore, name: string | symbol) => {
    const value = Reflect.get(of, name, of)
    return typeof value === 'function' ? value.bind(of) : value
  }
  return { pages, store: new Proxy(store, { get: (of, name) => (name === 'look' ? look : bound(of, name)) }) }
}

it('a scan gives the event loop its turn between two pages of the items that it knows', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belfry-turns-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (let number = 0; number < items; number++) {
    mkdirSync(join(root, `n${number}`, '.meta'), { recursive: true })
    writeFileSync(join(root, `n${number}`, '.meta/meta.json'), '{}')
  }
  await here.corpora.create({ name: 'many', root, target: { handler: 'write' } })
  const corpus = (await desk().context.store.look(findCorpus, 'many')) as Corpus
  for (const number of [7, 449]) rmSync(join(root, `n${number}`), { recursive: true })
  const { pages, store } = counting(desk().context.store)
  expect(await scanTree(store, corpus)).toMatchObject({ items: items - 2, gone: 2 })
  expect(pages.all).toBeGreaterThan(2)
  expect(pages.most).toBe(1)
})
