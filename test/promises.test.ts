import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { breachWords, figuresThere, pageWith, proofs, shownBeside } from '../scripts/promises.mjs'
import { mustHappen } from '../sim/coverage.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${root}docs/promises.md`, 'utf8')
const promises = page.split(/^## (?=\d)/m).slice(1)
const checkedBy = /^- \[`([^`]+)`\]\(\.\.\/([^)]+)\): \*(.+)\*$/gm

/** How a sentence stands in code: in quotes of its own, so that a longer one is not taken for it. */
function isTold(path: string, sentence: string): boolean {
  const text = existsSync(root + path) ? readFileSync(root + path, 'utf8') : ''
  return [`'${sentence}'`, `\`${sentence}\``, `"${sentence}"`].some((told) => text.includes(told))
}

describe('the page of promises', () => {
  it('numbers them without a gap', () => {
    expect(promises.map((promise) => Number.parseInt(promise, 10))).toEqual(promises.map((_, index) => index + 1))
    expect(promises.length).toBeGreaterThan(8)
  })

  it.each(promises.map((promise) => [promise.split('\n')[0] as string, promise] as const))(
    'names tests that are there for %s',
    (_, promise) => {
      const named = [...promise.matchAll(checkedBy)]
      expect(named.length).toBeGreaterThan(0)
      // A line that looks like a reference and cannot be read as one would be checked by nobody.
      expect(promise.match(/^- \[/gm)?.length).toBe(named.length)
      for (const [, shown, path, sentence] of named) {
        expect(shown).toBe(path)
        expect({ path, sentence, isTold: isTold(path as string, sentence as string) }).toMatchObject({ isTold: true })
      }
    },
  )
})

describe('the tables of hazards', () => {
  const tables = page.split('| hazard | test |\n|---|---|\n').slice(1)
  const rows = tables.flatMap((table) => table.slice(0, table.indexOf('\n\n')).split('\n'))
  const row = /^\| .+ \| \[`([^`]+)`\]\(\.\.\/([^)]+)\): \*(.+)\* \|$/

  it('have rows', () => {
    expect(tables).toHaveLength(2)
    expect(rows.length).toBeGreaterThan(30)
  })

  it.each(rows)('name a test that is there: %s', (line) => {
    const [, shown, path = '', sentence = ''] = row.exec(line) ?? []
    expect({ path: shown, isTold: isTold(path, sentence) }).toEqual({ path, isTold: true })
  })
})

const conditions = { node: '20.19.0', platform: 'linux x64', cores: 2, seconds: 90, at: '2026-01-05T09:00:00.000Z' }
const sim = { conditions, from: 0, seeds: 100_000, steps: 47_000_000, broken: 0, counts: { 'act: delete': 1_234 } }
const spread = { p50: 100, p99: 1_400, max: 1_900 }
const fault = { seconds: 9, runs: 5_000, effects: 5_000, acks: 5_000, refusals: 7, breaches: {}, verdict: 'kept' }
const played = (id: string, database: string, injected: number) => {
  return { ...fault, id, title: id, database, injected, latenessMs: spread, recoveryMs: id === 'F1r' ? spread : null }
}
const faults = {
  conditions: { ...conditions, databases: { sqlite: 'SQLite, WAL', postgres: 'PostgreSQL 18.4' }, seed: 7 },
  faults: [
    ...['sqlite', 'postgres'].flatMap((on) => [
      played('F1', on, 1_000),
      played('F1r', on, 1_000),
      played('F11', on, 300),
    ]),
    { id: 'F12', title: 'disk full', database: 'sqlite', skipped: 'only root mounts a tmpfs' },
  ],
}
const mutants = { conditions, mutants: 150, caught: 150 }
const all = { sim, faults, mutants }

/** What stands between the marks of each promise, and last of all the conditions. */
function figuresIn(text: string): string[] {
  return [...text.matchAll(/<!-- figures -->\n(.*?)<!-- end of figures -->/gs)].map(([, figures]) => figures as string)
}

describe('the figures beside the promises', () => {
  it('are those of the long proofs as they lie in docs/figures (npm run promises)', () => {
    expect(page).toBe(pageWith(page, figuresThere()))
  })

  it('stand beside every promise that a long proof puts to the test, and their conditions at the end', () => {
    const marks = promises.map((promise) => figuresIn(promise).length)
    const wanted: number[] = promises.map((_, index) => (`${index + 1}` in shownBeside ? 1 : 0))
    wanted[wanted.length - 1] = 2
    expect(marks).toEqual(wanted)
    expect(figuresIn(page).at(-1)).toContain(proofs.sim.command)
  })

  it('are about what the simulation must have seen and what the faults are judged by', () => {
    const named = Object.values(shownBeside).flatMap(({ sim: kinds }) => kinds)
    expect(named.filter((kind) => !mustHappen.includes(kind))).toEqual([])
    const breaches = Object.values(shownBeside).flatMap((beside) => ('breaches' in beside ? beside.breaches : []))
    expect(breaches.filter((kind) => !(kind in breachWords))).toEqual([])
  })

  it('are missed aloud where nothing was measured', () => {
    const none = figuresIn(pageWith(page, { sim: null, faults: null, mutants: null }))
    expect(none.filter((figures) => !figures.includes('not measured yet'))).toEqual([])
    expect(none.join('')).not.toMatch(/broken|kills/)
    const one = { ...faults, faults: faults.faults.filter(({ database }) => database === 'sqlite') }
    expect(figuresIn(pageWith(page, { ...all, faults: one }))[0]).toContain('- Faults, PostgreSQL: not measured yet.')
  })

  it('say what was measured, where, and what could not be', () => {
    const shown = figuresIn(pageWith(page, all))
    expect(shown.at(-2)).toBe('- Simulation: 0 of 100,000 histories broken, in 47,000,000 steps with 1,234 × delete.\n')
    expect(shown[0]).toContain(
      'SQLite: 0 missed and 0 doubled in 15,000 runs, under 2,000 kills, 300 pauses past the lease and 0 other faults.',
    )
    expect(shown[3]).toContain('0 recorded twice, 21 refused in')
    expect(shown[5]).toContain('Recovery: F1r p99 1,400, at most 1,900 ms.')
    expect(shown.at(-1)).toContain(
      '6 of 7 faults kept every promise; not measured: F12 on SQLite, only root mounts a tmpfs; SQLite, WAL; PostgreSQL 18.4; seed 7',
    )
    expect(shown.at(-1)).toContain('150 of 150 caught | 2026-01-05, Node 20.19.0, linux x64, 2 cores, 2 min')
    expect(shown.join('')).not.toMatch(/not measured yet|short run/)
    expect(pageWith(pageWith(page, all), figuresThere())).toBe(page)
  })

  it('do not hide a breach, nor that a run was a short one', () => {
    const [first, ...rest] = faults.faults
    const broken = {
      ...faults,
      faults: [{ ...first, breaches: { missed: 3 }, verdict: 'breach', injected: 9 }, ...rest],
    }
    const shown = figuresIn(pageWith(page, { ...all, sim: { ...sim, seeds: 500, broken: 2 }, faults: broken }))
    expect(shown[0]).toMatch(
      /Simulation: 2 of 500 histories broken.* A short run\.\n.*SQLite: 3 missed .* A short run\.\n/,
    )
    expect(shown[0]).toMatch(/PostgreSQL: 0 missed (?!.*short run)/)
    expect(shown.at(-1)).toContain('broken: F1 on SQLite')
  })
})
