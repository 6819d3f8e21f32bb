import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pause, systemClock } from '../../dist/core/clock.js'
import { Belfry } from '../../dist/index.js'
import { openStore } from '../../dist/open-store.js'
import { findCorpus, lockCorpus } from '../../dist/parts/corpus/corpus-row.js'
import { findItems, placed, saveItems } from '../../dist/parts/corpus/items/item-row.js'
import { itemPaths } from '../../dist/parts/corpus/items/list-items.js'
import { readLine } from '../../dist/parts/corpus/items/pick-item.js'
import { tickOnce } from '../../dist/parts/corpus/phases/tick.js'
import { lookAtFolders } from '../../dist/parts/corpus/tree/look-at-folders.js'
import { noted } from '../../dist/parts/corpus/tree/scan-tree.js'
import { TreeWatch } from '../../dist/parts/corpus/tree/tree-watch.js'
import { median, medianOf } from '../figures.mjs'
import { settleDown } from '../fill.mjs'

const childrenEach = 30
const turns = 30
const resolutionMs = 1
const name = 'bench'
const fresh = { architect: 'fresh', builder: 'fresh', critic: 'fresh' }

/** What a corpus costs with a thousand items and with a hundred thousand: its first scan, an idle tick, a change, a pick, a page. */
export async function run(bench) {
  const sizes = [1_000, bench.quick ? 10_000 : 100_000]
  const rows = []
  for (const size of sizes) {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'belfry-bench-corpus-')))
    try {
      const leaf = plantTree(root, size)
      // A user's tree lies on the disk. This one is 2 GB in memory, which the system would write while the scans are measured.
      execFileSync('sync')
      for (const database of ['sqlite', 'postgres']) {
        const rounds = []
        for (let round = 0; round < bench.rounds; round++) {
          bench.say(`round ${round + 1} of ${bench.rounds}: ${size.toLocaleString('en')} items on ${database}`)
          const figures = await bench.within(database, undefined, async (place) => ({
            ...(await bench.child(import.meta.url, { place, root, leaf }, { timeoutMs: 1_200_000 })),
            ...(await bench.child(import.meta.url, { place, role: 'worker' }, { timeoutMs: 1_200_000 })),
          }))
          // A round takes minutes: its figures are seen at once, and not lost with a run that is broken off.
          bench.say(JSON.stringify(figures))
          rounds.push(figures)
          await rm(join(root, '.meta'), { recursive: true, force: true })
        }
        rows.push({ database, size, way: rounds[0].way, ...medianOf(rounds), rounds })
      }
    } finally {
      await rm(root, { recursive: true })
    }
  }
  return { turns, rows }
}

/** Every item has so many below it, a document and two files; answers one of the deepest. */
function plantTree(root, size) {
  const paths = []
  const document = JSON.stringify({
    _content: 'x'.repeat(500),
    _generatedAt: '2100-01-01T00:00:00Z',
    _phaseState: fresh,
  })
  for (let number = 0; number < size; number++) {
    const above = number < childrenEach ? '' : `${paths[Math.floor(number / childrenEach) - 1]}/`
    const path = `${above}n${number}`
    paths.push(path)
    mkdirSync(join(root, path, '.meta'), { recursive: true })
    writeFileSync(join(root, path, '.meta/meta.json'), document)
    for (const file of ['README.md', 'notes.md']) writeFileSync(join(root, path, file), `${file} of ${path}`)
  }
  return paths.at(-1)
}

export async function child({ place, root, leaf, role }) {
  const belfry = await Belfry.open({ store: place.store, log: false })
  if (role === 'worker') return await resident(belfry)
  // What is loaded at the first call is no part of a scan.
  await belfry.corpora.list({})
  const first = await heldWhile(() =>
    belfry.corpora.create({ name, root, target: { handler: 'write' }, cron: '0 0 1 1 *' }),
  )
  const store = await openStore(place.store)
  const corpus = await store.look(findCorpus, name)
  const watch = new TreeWatch({ store, corpus, clock: systemClock })
  const again = await heldWhile(() => watch.look())
  await settleDown(place)
  const { watches } = await belfry.corpora.status(name)
  const figures = {
    way: watches[0].because === null ? 'watched' : 'polled',
    firstScanMs: first.tookMs,
    scanMs: again.tookMs,
    heldMs: Math.max(first.heldMs, again.heldMs),
    idleTickMs: await each(() => tickOnce(store, corpus, systemClock, { watch })),
  }
  await watch.close()
  figures.changeMs = await changed({ store, corpus, root, leaf })
  await makeLine(store)
  await settleDown(place)
  Object.assign(figures, {
    pickMs: await each(() => store.look(readLine, name, 1)),
    statusMs: await each(() => belfry.corpora.status(name)),
    listMs: await each(() => belfry.corpora.list({ corpus: name, limit: 100 })),
    owedMs: await each(() => belfry.corpora.list({ corpus: name, owed: true, limit: 100 })),
  })
  await store.close()
  await belfry.close()
  return figures
}

/** What a worker takes that has scanned the tree and waits for changes. */
async function resident(belfry) {
  belfry.handle('write', () => 'written')
  const scannedAt = async () => (await belfry.corpora.status(name)).watches[0].scannedAt
  const before = await scannedAt()
  await belfry.start()
  while ((await scannedAt()) === before) await pause(systemClock, 250)
  const rssMb = process.resourceUsage().maxRSS / 1_024
  await belfry.close()
  return { rssMb }
}

/** From a changed file to its phase pending: what is done once the change is known. */
async function changed({ store, corpus, root, leaf }) {
  const look = { has: () => true, forget: () => undefined, walked: () => undefined }
  let turn = 0
  return await each(async () => {
    writeFileSync(join(root, leaf, 'README.md'), `changed ${++turn} times`)
    const counts = await lookAtFolders(store, corpus, [leaf], look)
    await noted(store, corpus, counts, { isWhole: false })
    if (counts.looked !== 1) throw new Error(`${counts.looked} items were looked at`)
  })
}

/** Every tenth item is owed, in 45 groups: five depths, three emphases, three phases. */
async function makeLine(store) {
  for (let after = ''; ; ) {
    const [last, count] = await store.do(owe, after)
    if (count < 1_000) return
    after = last
  }
}

function* owe(context, after) {
  const corpus = yield* lockCorpus(context, name)
  const paths = yield* itemPaths(context, corpus.id, after, 1_000)
  const items = yield* findItems(
    corpus.id,
    paths.filter((_, at) => at % 10 === 0),
  )
  const changes = [...items.values()].map((before, at) => {
    const phase = Object.keys(fresh)[at % 3]
    const state = { ...fresh, [phase]: 'pending' }
    const after = {
      ...before,
      depth: Math.floor(at / 3) % 5,
      emphasis: Math.floor(at / 15) % 3,
      state,
      generatedAt: at,
    }
    return { before, after: placed(after, corpus) }
  })
  yield* saveItems(changes)
  return [paths.at(-1), paths.length]
}

async function each(work) {
  const took = []
  for (let turn = -5; turn < turns; turn++) {
    const from = performance.now()
    await work()
    if (turn >= 0) took.push(performance.now() - from)
  }
  return median(took)
}

/** How long it took, and how long it kept the event loop at most. */
async function heldWhile(work) {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const from = performance.now()
  await work()
  delay.disable()
  return { tookMs: performance.now() - from, heldMs: Math.max(0, delay.max / 1e6 - resolutionMs) }
}
