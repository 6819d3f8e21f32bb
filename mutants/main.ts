/**
 * Breaks the product on purpose, one breakage at a time in a copy, and tells which the tests notice.
 *
 *   npm run mutants [-- --only id,id] [--list] [--jobs 1] [--all-suites | --named-only] [--skip-baseline]
 *                       [--json FILE] [--docs]   (docs: docs/mutants.md, and the figures for docs/promises.md)
 *
 * The named suites of a breakage are asked first, and all the others before it is called a survivor.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { conditionsSince, writeFigures } from '../scripts/figures.mjs'
import { startPostgres } from '../scripts/postgres-server.mjs'
import { baselineOf } from './baseline.ts'
import { Copy } from './copy.ts'
import { type Court, type Judged, judge } from './judge.ts'
import { mutants } from './list/all.ts'
import { type Mutant, suitesOf } from './mutant.ts'
import { lineOf, pageOf, rowsOf } from './page.ts'
import { suiteText } from './tests.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
    'all-suites': { type: 'boolean', default: false },
    'named-only': { type: 'boolean', default: false },
    'skip-baseline': { type: 'boolean', default: false },
    json: { type: 'string' },
    docs: { type: 'boolean', default: false },
  },
})

// This file is started from build/mutants.
const repository = fileURLToPath(new URL('../..', import.meta.url))

function chosen(): Mutant[] {
  const wanted = values.only?.split(',')
  const unknown = wanted?.filter((id) => !mutants.some((mutant) => mutant.id === id)) ?? []
  if (unknown.length > 0) throw new Error(`There is no mutant ${unknown.join(', ')}; --list tells which there are.`)
  return mutants.filter(({ id }) => wanted?.includes(id) ?? true)
}

/** Each job has a copy of its own and takes the next breakage when it is done with one. */
async function judgeAll(chosen: readonly Mutant[], courts: readonly Court[]): Promise<Judged[]> {
  const judged = new Map<string, Judged>()
  const waiting = [...chosen]
  const work = async (court: Court) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const one = await judge(mutant, court)
      if (court.stop.aborted) return
      judged.set(mutant.id, one)
      console.log(lineOf(one))
      if (one.message !== '') console.log(`              ${one.message.slice(0, 300)}`)
    }
  }
  await Promise.all(courts.map(work))
  return chosen.flatMap(({ id }) => judged.get(id) ?? [])
}

interface Bench {
  readonly copy: Copy
  readonly server: Awaited<ReturnType<typeof startPostgres>>
}

const asksAll = values['all-suites'] ? 'first' : values['named-only'] ? 'never' : 'last'

async function prove(picked: readonly Mutant[], stop: AbortSignal): Promise<Judged[]> {
  const benches: Bench[] = []
  try {
    while (benches.length < Number(values.jobs)) {
      benches.push({ copy: Copy.of(repository), server: await startPostgres() })
    }
    for (const { copy } of benches) await copy.build()
    const baselineMs = await usualMs(picked, benches[0] as Bench, stop)
    const courts = benches.map(
      ({ copy, server }) => ({ copy, postgresUrl: server.url, baselineMs, asksAll, stop }) as const,
    )
    return await judgeAll(picked, courts)
  } finally {
    for (const { copy, server } of benches) {
      copy.remove()
      await server.stop()
    }
  }
}

/** How long the suites take while nothing is broken; throws when one of them fails all the same. */
async function usualMs(picked: readonly Mutant[], { copy, server }: Bench, stop: AbortSignal) {
  if (values['skip-baseline'] || asksAll === 'first') return new Map<string, number>()
  const suites = [...new Map(picked.flatMap(suitesOf).map((suite) => [suiteText(suite), suite])).values()]
  const { ms, problems } = await baselineOf(suites, { copy, postgresUrl: server.url, stop })
  if (problems.length > 0) throw new Error(`Nothing is broken yet, and all the same:\n  ${problems.join('\n  ')}`)
  return ms
}

const picked = chosen()
if (values.list) {
  for (const { id, hazard } of picked) console.log(`${id.padEnd(38)} ${hazard}`)
} else {
  const began = new Date()
  // Whoever interrupts it finds neither a server nor a copy left behind.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const judged = await prove(picked, stop.signal)
  const failed = judged.filter(({ fate }) => !fate.startsWith('caught'))
  const conditions = conditionsSince(began)
  const caught = judged.length - failed.length
  console.log(`\n${caught} of ${judged.length} caught in ${(conditions.seconds / 60).toFixed(1)} minutes`)
  for (const one of failed) console.log(lineOf(one))
  if (values.json !== undefined) writeFigures(values.json, { conditions, judged })
  if (values.docs) {
    const page = join(repository, 'docs/mutants.md')
    const ids = mutants.map(({ id }) => id)
    writeFileSync(page, pageOf(rowsOf(ids, judged, readFileSync(page, 'utf8'))))
    // Figures of some of them would seem to be figures of all.
    if (judged.length === mutants.length)
      writeFigures(join(repository, 'docs/figures/mutants.json'), { conditions, mutants: judged.length, caught })
  }
  process.exitCode = failed.length === 0 && judged.length === picked.length ? 0 : 1
}
