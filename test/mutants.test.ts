import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Anchors } from '../mutants/anchor.ts'
import { mutants } from '../mutants/list/all.ts'
import { breakIn, type Edit, misfits, suitesOf } from '../mutants/mutant.ts'
import { cases } from './conformance/all.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const scratch = () => mkdtempSync(join(tmpdir(), 'belfry-anchors-'))

describe('a mutant', () => {
  it('has an id of its own', () => {
    const ids = mutants.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([])
    expect(ids.length).toBeGreaterThanOrEqual(70)
  })

  it('says in a sentence what it breaks', () => {
    expect(mutants.filter(({ hazard }) => !/^[A-Z].{15,}\.$/.test(hazard)).map(({ id }) => id)).toEqual([])
  })

  it('fits the sources as they are, in one place each', () => {
    const anchors = new Anchors(root)
    expect(mutants.flatMap((mutant) => misfits(mutant, anchors).map((wrong) => `${mutant.id}: ${wrong}`))).toEqual([])
  })

  it('finds its place wherever the code has moved to, and says when there is none or more than one', () => {
    const tree = scratch()
    mkdirSync(`${tree}/src/deep`, { recursive: true })
    writeFileSync(`${tree}/src/one.ts`, 'export const twice = 1\n')
    writeFileSync(`${tree}/src/deep/two.ts`, 'const twice = 2\nexport class Box {\n  #lid = twice + twice\n}\n')
    const says = (...edit: Edit) => misfits({ id: 'm', hazard: '', edits: [edit], suites: [] }, new Anchors(tree))
    expect(says('Box.#lid', '= twice', '= once')).toEqual([])
    expect(says('two.ts twice', '2', '3')).toEqual([])
    expect(says('deep/two.ts', 'const twice = 2', '')).toEqual([])
    expect(says('twice', '1', '2')).toEqual(['twice is in src/deep/two.ts, src/one.ts'])
    expect(says('Box.lid', '1', '2')).toEqual(['nothing is named Box.lid'])
    expect(says('Box.#lid', 'twice', 'once')).toEqual(['Box.#lid has 2 times, and not once: "twice"'])
    expect(says('one.ts twice', '1', '1')).toEqual(['one.ts twice stays as it is: "1"'])
  })

  it('is made whole and taken back whole', () => {
    const tree = scratch()
    mkdirSync(`${tree}/src`)
    const text = 'export function add(a: number, b: number) {\n  return a + b // a é\n}\nexport const most = 5\n'
    writeFileSync(`${tree}/src/one.ts`, text)
    const edits: readonly Edit[] = [
      ['most', '5', '$1'],
      ['add', 'a + b', 'a'],
    ]
    const mend = breakIn(tree, { id: 'm', hazard: '', edits, suites: [] }, new Anchors(tree))
    expect(readFileSync(`${tree}/src/one.ts`, 'utf8')).toBe(text.replace('a + b', 'a').replace('5', () => '$1'))
    mend()
    expect(readFileSync(`${tree}/src/one.ts`, 'utf8')).toBe(text)
  })

  it('names suites that exist', () => {
    const files = mutants.flatMap((mutant) => suitesOf(mutant).map(({ file }) => file))
    expect([...new Set(files)].filter((file) => !existsSync(`${root}/${file}`))).toEqual([])
    expect(mutants.filter(({ suites }) => suites.length === 0).map(({ id }) => id)).toEqual([])
    const known = ['memory:', 'SQLite file', 'PostgreSQL'].flatMap((store) =>
      cases.map(({ name }) => `'${store}' ${name}`),
    )
    const patterns = mutants.flatMap((mutant) => suitesOf(mutant).flatMap(({ only }) => only ?? []))
    expect(patterns.filter((only) => !known.some((name) => new RegExp(only).test(name)))).toEqual([])
  })

  it('is on the page that tells of them, in the same words', () => {
    const page = readFileSync(`${root}/docs/mutants.md`, 'utf8')
    expect(mutants.filter(({ id, hazard }) => !page.includes(`| \`${id}\` | ${hazard} |`)).map(({ id }) => id)).toEqual(
      [],
    )
    expect(page.split('\n').filter((line) => line.startsWith('| `')).length).toBe(mutants.length)
  })
})
