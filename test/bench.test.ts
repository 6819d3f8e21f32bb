import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { median, medianOf, percentile, shown, times } from '../bench/figures.mjs'
import { pageOf, plotsOf } from '../bench/page.mjs'
import { reasonOf, whatNpmSays } from '../bench/peers.mjs'
import { costPlot, decades, logScale } from '../bench/plot.mjs'
import { markdownTable, textTable } from '../bench/table.mjs'
import { bestOf, targetsOf } from '../bench/targets.mjs'
import { pauses } from '../bench/work.mjs'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

describe('the page of benchmarks', () => {
  const results = JSON.parse(read('bench/results.json'))

  it('says what the results say, and nothing else', () => {
    expect(read('docs/benchmarks.md')).toBe(pageOf(results))
  })

  it('shows the plot that the results make', () => {
    const plots = plotsOf(results) as Record<string, string>
    expect(Object.keys(plots)).toEqual(['cost.svg'])
    for (const [name, plot] of Object.entries(plots)) expect(read(`docs/benchmarks/${name}`)).toBe(plot)
  })

  it('says so when the run was a quick one, and who was not there', () => {
    const absent = [{ contestant: 'BullMQ', reason: 'there is no redis-server on the path' }]
    expect(pageOf({ ...results, quick: true, absent })).toContain('quick run')
    expect(pageOf({ ...results, quick: true, absent })).toContain('BullMQ was not there: there is no redis-server')
    expect(pageOf({ ...results, quick: false, absent: [] })).not.toMatch(/quick run|was not there/)
  })
})

describe('the peers', () => {
  it('are pinned by their hashes, and leave the registry to whoever installs', () => {
    const { packages } = JSON.parse(read('bench/package-lock.json')) as {
      packages: Record<string, { resolved?: string; integrity?: string }>
    }
    const pinned = Object.entries(packages).filter(([name]) => name !== '')
    expect(pinned.length).toBeGreaterThan(50)
    expect(pinned.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
    expect(pinned.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  })

  it('that are not there are told by a reason that names no place of this machine', () => {
    const folder = fileURLToPath(new URL('../bench/', import.meta.url))
    const message = `Error: Cannot find package 'better-sqlite3' imported from ${folder}contestants/plainjob.mjs`
    expect(reasonOf({ message })).toBe('better-sqlite3 is not installed')
    expect(reasonOf({ message: `dlopen failed: ${folder}node_modules/a` })).toBe('dlopen failed: bench/node_modules/a')
    const said =
      'npm warn old\nnpm error code E404\nnpm error\nnpm error 404 Not Found\nnpm error A complete log is in …'
    expect(whatNpmSays(said)).toBe('404 Not Found')
    expect(whatNpmSays('')).toBe('it did not say why')
  })

  it('are named by exact versions', () => {
    const { dependencies, optionalDependencies } = JSON.parse(read('bench/package.json')) as {
      dependencies: Record<string, string>
      optionalDependencies: Record<string, string>
    }
    const versions = Object.values({ ...dependencies, ...optionalDependencies })
    expect(versions.length).toBeGreaterThan(6)
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})

describe('figures', () => {
  it('have a median that neither one outlier nor their order moves', () => {
    expect(median([5, 1, 900])).toBe(5)
    expect(median([4, 1, 2, 900])).toBe(3)
    expect(median([])).toBeNull()
  })

  it('have a percentile that is one of them, the smallest that enough of them do not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile([7], 0.99)).toBe(7)
    expect(percentile([], 0.5)).toBeNull()
  })

  it('of rounds are joined field by field, words left out', () => {
    expect(
      medianOf([
        { a: 1, b: 9, c: 'x' },
        { a: 3, b: 8, c: 'y' },
        { a: 2, b: 7, c: 'z' },
      ]),
    ).toEqual({ a: 2, b: 8 })
  })

  it('are shown with as many digits as mean something', () => {
    expect([123_456.7, 100.4, 12.345, 0.012_34, null].map(shown)).toEqual(['123,457', '100', '12.3', '0.0123', '–'])
    expect([2.5, null, Number.POSITIVE_INFINITY].map(times)).toEqual(['2.5 ×', '–', '–'])
  })

  it('are taken after pauses that are the same in every run and stay below their longest', () => {
    const [one, other] = [pauses(50), pauses(50)]
    const first = Array.from({ length: 200 }, () => one())
    expect(Array.from({ length: 200 }, () => other())).toEqual(first)
    expect(Math.min(...first)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...first)).toBeLessThanOrEqual(50)
    expect(Math.max(...first) - Math.min(...first)).toBeGreaterThan(40)
  })
})

describe('tables', () => {
  const table = {
    columns: ['who', 'setting', 'jobs/s'],
    rows: [
      ['a', '24 workers', '9,000'],
      ['b|c', 'default', '–'],
    ],
  }

  it('put numbers to the right and words to the left', () => {
    expect(textTable(table)).toBe(
      ['who  setting     jobs/s', '───  ──────────  ──────', 'a    24 workers   9,000', 'b|c  default          –'].join(
        '\n',
      ),
    )
  })

  it('do not break at a bar in a cell', () => {
    expect(markdownTable(table)).toBe(
      ['| who | setting | jobs/s |', '|---|---|--:|', '| a | 24 workers | 9,000 |', '| b\\|c | default | – |'].join(
        '\n',
      ),
    )
  })
})

describe('the plot', () => {
  it('gives each tenfold the same length', () => {
    const x = logScale([1_000, 1_000_000], [0, 300])
    expect([1_000, 10_000, 100_000, 1_000_000].map((size) => Math.round(x(size)))).toEqual([0, 100, 200, 300])
    expect(logScale([10, 10], [0, 300])(10)).toBe(150)
  })

  it('has an axis that encloses all values', () => {
    expect(decades([0.4, 35])).toEqual([0.1, 1, 10, 100])
    expect(decades([10])).toEqual([10, 100])
  })

  it('draws each step of each database, and nothing where nothing was measured', () => {
    const row = (database: string, size: number) => ({ database, size, fire100: 9, lease100: 3, settle100: 2 })
    const rows = ['sqlite', 'postgres'].flatMap((database) => [row(database, 1_000), row(database, 100_000)])
    expect(costPlot({ measures: { cost: { rows } } })?.match(/<polyline /g)).toHaveLength(6)
    expect(costPlot({ measures: {} })).toBeNull()
  })
})

describe('a target', () => {
  const throughput = (figures: Record<string, number[]>) => ({
    rows: Object.entries(figures).flatMap(([contestant, all]) =>
      all.map((perSecond, index) => ({ contestant, setting: String(index), perSecond })),
    ),
  })
  const verdict = (measures: object, what: RegExp) =>
    targetsOf({ measures }).find((target) => what.test(target.what))?.verdict

  it('is judged against the best setting of a peer', () => {
    const measures = { throughput: throughput({ 'Belfry (PostgreSQL)': [28], 'graphile-worker': [10, 20, 5] }) }
    expect(bestOf({ measures }, 'graphile-worker').perSecond).toBe(20)
    expect(verdict(measures, /graphile-worker$/)).toBe('met')
    measures.throughput = throughput({ 'Belfry (PostgreSQL)': [27.9], 'graphile-worker': [10, 20, 5] })
    expect(verdict(measures, /graphile-worker$/)).toBe('missed')
  })

  it('is neither met nor missed when one of the two was not there or failed', () => {
    expect(verdict({}, /BullMQ/)).toBe('not measured')
    const failed = { contestant: 'BullMQ', setting: '', failed: 'no answer' }
    const { rows } = throughput({ 'Belfry (SQLite)': [9] })
    expect(verdict({ throughput: { rows: [...rows, failed] } }, /BullMQ/)).toBe('not measured')
    const other = { contestant: 'BullMQ', setting: 'other', perSecond: 1 }
    expect(bestOf({ measures: { throughput: { rows: [failed, other] } } }, 'BullMQ')).toBe(other)
  })

  it('that sets a most is met at it and missed above it', () => {
    const latency = (p50: number) => ({
      latency: { rows: [{ contestant: 'Belfry (SQLite)', way: 'in process', p50 }] },
    })
    expect(verdict(latency(1.5), /in process, Belfry \(SQLite\)/)).toBe('met')
    expect(verdict(latency(1.51), /in process, Belfry \(SQLite\)/)).toBe('missed')
  })

  it('on the cost of a lease takes the worse of many and one, from the largest store to the smallest', () => {
    const cost = (lease1: number) => ({
      cost: {
        rows: [
          { database: 'sqlite', size: 1_000, lease100: 4, lease1: 1 },
          { database: 'sqlite', size: 100_000, lease100: 90, lease1: 90 },
          { database: 'sqlite', size: 1_000_000, lease100: 5, lease1 },
          { database: 'sqlite', lease100: 900, lease1: 900 },
        ],
      },
    })
    expect(verdict(cost(2), /lease.*SQLite/)).toBe('met')
    expect(verdict(cost(2.1), /lease.*SQLite/)).toBe('missed')
  })

  it('on the calendar is judged by its worst expression', () => {
    const cron = (worst: number) => ({
      cron: {
        rows: [
          { contestant: 'Belfry', '* * * * * UTC': 9_000, '0 9 * * 1-5 Europe/Paris': worst },
          { contestant: 'croner', '* * * * * UTC': 10, '0 9 * * 1-5 Europe/Paris': 10 },
        ],
      },
    })
    expect(verdict(cron(500), /croner/)).toBe('met')
    expect(verdict(cron(499), /croner/)).toBe('missed')
  })
})
