import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mutants } from '../mutants/list/all.ts'
import { misfits, suitesOf } from '../mutants/mutant.ts'
import { cases } from '../src/testing/conformance/all.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

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

  it('fits the sources as they are, in one place each, and touches nothing but the product', () => {
    expect(mutants.flatMap((mutant) => misfits(mutant, root).map((wrong) => `${mutant.id}: ${wrong}`))).toEqual([])
    const paths = mutants.flatMap(({ edits }) => edits.map(([path]) => path))
    expect(paths.filter((path) => !path.startsWith('src/') || path.startsWith('src/testing/'))).toEqual([])
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
