import { EventEmitter } from 'node:events'
import {
  existsSync,
  type FSWatcher,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  type watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Corpus, findCorpus } from '../../../src/parts/corpus/corpus-row.ts'
import type { Item } from '../../../src/parts/corpus/items/item-row.ts'
import { everyStatus, itemPage } from '../../../src/parts/corpus/items/list-items.ts'
import { lookTogether } from '../../../src/parts/corpus/tree/scan-tree.ts'
import { seeItem } from '../../../src/parts/corpus/tree/see-item.ts'
import { TreeWatch } from '../../../src/parts/corpus/tree/tree-watch.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)

/** Watches of folders that see only the events of the test. */
class ToldWatches {
  readonly #watchers = new Map<string, { seen: (event: string, name: string) => void; watcher: FSWatcher }>()
  /** The maximum number of watches. */
  most = Number.POSITIVE_INFINITY

  readonly watch = ((folder: string, _: object, seen: (event: string, name: string) => void) => {
    if (this.#watchers.size >= this.most) throw Object.assign(new Error('no more'), { code: 'ENOSPC' })
    const watcher = Object.assign(new EventEmitter(), { close: () => this.#watchers.delete(folder) })
    this.#watchers.set(folder, { seen, watcher: watcher as unknown as FSWatcher })
    return watcher
  }) as unknown as typeof watch

  get size(): number {
    return this.#watchers.size
  }

  tell(folder: string, name: string): void {
    this.#watchers.get(folder)?.seen('rename', name)
  }

  fail(folder: string): void {
    this.#watchers.get(folder)?.watcher.emit('error', new Error('gone wrong'))
  }
}

async function scene({ paths = ['a', 'b'], ...definition }: { paths?: string[]; autoSeed?: object[] } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belfry-watch-')))
  const root = join(folder, 'root')
  mkdirSync(root)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const path of paths) {
    write(`${path}/.meta/meta.json`, '{}')
    write(`${path}/README.md`, path)
  }
  await here.corpora.create({ name: 'notes', root, target: { handler: 'write' }, ...definition } as never)
  const { store, clock } = desk()
  const corpus = (await store.look(findCorpus, 'notes')) as Corpus
  const watching = (own: Partial<ConstructorParameters<typeof TreeWatch>[0]> = {}) => {
    const one = new TreeWatch({ store, corpus, clock, ...own })
    onTestFinished(() => one.close())
    return one
  }
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const items = async () => await store.look(itemPage, corpus.id, { statuses: everyStatus, limit: 1_000 })
  const hashes = async () => (await items()).map(({ facts }) => Object.values(facts.files ?? {})[0]?.[1])
  return { root, folder, write, corpus, watching, items, hashes, store, clock }
}

it('a worker looks only at what its watch saw change, and at all of the tree when it began anew', async () => {
  const { root, write, watching, hashes } = await scene()
  const told = new ToldWatches()
  const tree = watching({ watch: told.watch })
  await tree.look()
  const before = await hashes()
  for (const path of ['a', 'b']) write(`${path}/README.md`, 'changed')
  told.tell(join(root, 'a'), 'README.md')
  expect(await tree.look()).toMatchObject({ looked: 1 })
  const [a, b] = await hashes()
  expect([a !== before[0], b]).toEqual([true, before[1]])
  expect(await watching({ watch: new ToldWatches().watch }).look()).toMatchObject({ looked: 1 })
  expect((await hashes())[1]).toBe(a)
})

it('a watch that failed, or had more events than the system keeps, does not vouch for the tree: all of it is scanned', async () => {
  const { root, write, watching } = await scene()
  const told = new ToldWatches()
  const tree = watching({ watch: told.watch })
  await tree.look()
  write('b/README.md', 'unseen')
  expect(await tree.look()).toMatchObject({ looked: 0 })
  told.fail(join(root, 'a'))
  expect(await tree.look()).toMatchObject({ looked: 1 })
  write('b/README.md', 'unseen again')
  for (let event = 0; event < 5_000; event += 1) told.tell(join(root, 'a'), 'README.md')
  await nextTurn()
  expect(await tree.look()).toMatchObject({ looked: 1 })
  expect(await tree.look()).toMatchObject({ looked: 0 })
})

it('a look that fails leaves what it was to look at to the next one', async () => {
  const { root, write, watching, store } = await scene()
  const told = new ToldWatches()
  let isDown = false
  const behind = {
    ...store,
    do: async (...args: Parameters<typeof store.do>) => {
      if (isDown) throw new Error('the store is gone')
      return await store.do(...args)
    },
    look: store.look.bind(store),
  }
  const tree = watching({ watch: told.watch, store: behind as never })
  await tree.look()
  write('a/README.md', 'changed')
  told.tell(join(root, 'a'), 'README.md')
  isDown = true
  await expect(tree.look()).rejects.toThrow('the store is gone')
  isDown = false
  expect(await tree.look()).toMatchObject({ looked: 1 })
  const denied = () => {
    throw Object.assign(new Error('denied'), { code: 'EACCES' })
  }
  await expect(watching({ watch: denied as never }).look()).rejects.toThrow(/cannot be watched \(EACCES\)/)
  rmSync(join(root, '.meta'), { recursive: true })
  await expect(tree.look()).rejects.toThrow(/may be another folder/)
})

it('at the limit of watches the tree is polled, holds no watch, and status and doctor say so', async () => {
  const { write, watching, hashes, clock } = await scene()
  const told = new ToldWatches()
  told.most = 3
  const tree = watching({ watch: told.watch })
  await tree.look()
  expect(told.size).toBe(0)
  const before = await hashes()
  write('b/README.md', 'changed')
  clock.advance(60_000)
  await expect.poll(async () => (await hashes())[1] !== before[1]).toBe(true)
  const because = 'the system lets no more folders be watched (ENOSPC)'
  expect((await here.corpora.status({ name: 'notes' })).watches).toMatchObject([{ because }])
  const { checks } = await here.store.doctor({})
  const found = checks.find(({ check }) => check === 'corpora')?.findings ?? []
  expect(found.map(({ says }) => says)).toEqual([expect.stringContaining(because)])
})

it('what was read first is not written last: an item that another process looked at meanwhile is looked at again', async () => {
  const { write, watching, items, corpus, store, clock } = await scene({ paths: ['a'] })
  const [known] = (await items()) as [Item]
  const early = await seeItem(corpus, known, { known })
  write('a/README.md', 'newer')
  clock.advance(1)
  await watching().look()
  const after = ((await items()) as [Item])[0].facts.files
  await store.do(lookTogether, 'notes', early === null ? [] : [early])
  expect((await items())[0]).toMatchObject({ facts: { files: after }, isDirty: true })
})

it('rules seed what comes while the tree is watched, a hundred a pass, and never a folder that is gone', async () => {
  const { root, write, watching, items } = await scene({ paths: [], autoSeed: [{ match: '**/*.md', steer: 'Short.' }] })
  const told = new ToldWatches()
  const tree = watching({ watch: told.watch })
  for (let number = 0; number < 102; number += 1) write(`n${number}/a.md`, 'x')
  expect(await tree.seed()).toEqual({ seeded: 100, left: 2 })
  await tree.look()
  expect(await items()).toHaveLength(100)
  write('new/b.md', 'x')
  told.tell(root, 'new')
  const left = readdirSync(root).find(
    (name) => name !== 'new' && name !== '.meta' && !existsSync(join(root, name, '.meta')),
  )
  rmSync(join(root, left as string), { recursive: true })
  told.tell(root, left as string)
  expect(await tree.seed()).toEqual({ seeded: 2, left: 0 })
  expect(existsSync(join(root, left as string))).toBe(false)
  expect(existsSync(join(root, 'new/.meta/meta.json'))).toBe(true)
})

it('rules seed no folder of a polled tree that is gone by then, and pass by one that another process made an item of', async () => {
  const { root, write, watching } = await scene({ paths: [], autoSeed: [{ match: '**/*.md' }] })
  const told = new ToldWatches()
  told.most = 0
  const tree = watching({ watch: told.watch })
  for (const name of ['gone', 'left', 'made']) write(`${name}/a.md`, 'x')
  await tree.look()
  rmSync(join(root, 'gone'), { recursive: true })
  await here.corpora.seed({ name: 'notes', path: 'made' })
  expect(await tree.seed()).toEqual({ seeded: 1, left: 0 })
  expect(readdirSync(root).sort()).toEqual(['.meta', 'left', 'made'])
  expect(existsSync(join(root, 'left/.meta/meta.json'))).toBe(true)
})

/** The items with their parents and files, found by the simplest algorithm. */
function treeOf(root: string): Record<string, { parent: string | null; files: string[] }> {
  const found: Record<string, { parent: string | null; files: string[] }> = {}
  const enter = (path: string, above: string | null) => {
    const isItem = existsSync(join(root, path, '.meta/meta.json'))
    if (isItem) found[path] = { parent: above, files: [] }
    const owner = isItem ? path : above
    for (const name of readdirSync(join(root, path)).sort()) {
      const inner = path === '.' ? name : `${path}/${name}`
      const stat = lstatSync(join(root, inner))
      if (name === '.meta') continue
      if (stat.isDirectory()) enter(inner, owner)
      else if (stat.isFile() && owner !== null) found[owner]?.files.push(inner)
    }
  }
  enter('.', null)
  for (const { files } of Object.values(found)) files.sort()
  return found
}

it('whatever happens to files and folders, the watched index becomes what lies there, and no link is followed', async () => {
  const { root, folder, write, watching, items } = await scene({ paths: ['a', 'a/in', 'b'] })
  const outside = join(folder, 'outside')
  mkdirSync(join(outside, '.meta'), { recursive: true })
  writeFileSync(join(outside, '.meta/meta.json'), '{}')
  const move = (from: string, to: string) => renameSync(join(root, from), join(root, to))
  const remove = (path: string) => rmSync(join(root, path), { recursive: true })
  const steps: (() => void)[] = [
    () => write('a/plain/deep/file.md', 'x'),
    () => write('a/plain/.meta/meta.json', '{}'),
    () => write('a/plain/deep/more.md', 'x'),
    () => move('a/plain', 'b/moved'),
    () => write('b/moved/deep/more.md', 'y'),
    () => write('b/moved/deep/third.md', 'y'),
    () => remove('b/moved/.meta'),
    () => write('.meta/meta.json', '{}'),
    () => write('top.md', 'x'),
    () => remove('a/in'),
    () => {
      remove('b/moved/deep')
      symlinkSync(outside, join(root, 'b/moved/deep'))
    },
    () => write('c/.meta/meta.json', '{}'),
    () => {
      move('c', 'd')
      write('c/README.md', 'x')
    },
    () => write('d/README.md', 'x'),
    () => {
      remove('d')
      write('d/.meta/meta.json', '{}')
      write('d/other.md', 'x')
    },
    () => remove('.meta/meta.json'),
    () => {
      remove('b/.meta')
      write('b/.meta/meta.json', '{}')
      write('b/last.md', 'x')
    },
  ]
  const tree = watching()
  const index = async () => {
    await tree.look()
    const rows = (await items()).map(({ path, parent, facts }) => [
      path,
      { parent, files: Object.keys(facts.files ?? {}).sort() },
    ])
    return Object.fromEntries(rows) as unknown
  }
  expect(await index()).toEqual(treeOf(root))
  for (const step of steps) {
    step()
    await expect.poll(index, { message: String(step) }).toEqual(treeOf(root))
  }
  expect(Object.keys(treeOf(root))).toEqual(['a', 'b', 'd'])
})
