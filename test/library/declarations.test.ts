import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openInput } from '../../src/library/options.ts'
import { nounEntries, nouns, operations } from '../../src/table.ts'
import { scratchFolder } from '../scratch.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const declared = (file: string) => readFileSync(join(root, 'dist', file), 'utf8')

/** What an editor shows at a field or a verb: the comment above it. */
function membersOf(page: string, name: string): Map<string, string> {
  const [, body = ''] =
    new RegExp(`export interface ${name}(?:<[^>]*>)?(?: extends [^{]+)? \\{\\n((?: .*\\n)*)\\}`).exec(page) ?? []
  const members = [...body.matchAll(/^ +\/\*\* (.+) \*\/\n +(?:readonly )?(\w+)[?(<:]/gm)]
  const all = [...body.matchAll(/^ +(?:readonly )?(\w+)[?(<:]/gm)].map(([, member]) => member)
  expect([...new Set(all)], `${name} has members without a sentence`).toEqual([
    ...new Set(members.map(([, , member]) => member)),
  ])
  return new Map(members.map(([, says = '', member = '']) => [member, says]))
}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** The errors that the compiler has for a program that uses the library as it is published: by line, each with its first line. */
function errorsIn(program: string): string[] {
  const folder = mkdtempSync(join(scratchFolder(), 'types-'))
  folders.push(folder)
  const lib = JSON.stringify(join(root, 'dist/index.js'))
  writeFileSync(join(folder, 'program.ts'), program.replaceAll("'belfry'", lib))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2023',
    lib: ['ES2023', 'ES2024.String'],
    strict: true,
    noEmit: true,
  }
  const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...types } }))
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
    return []
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
      .trim()
      .split('\n')
  }
}

const begin = `
import { Belfry, type HandlerRun, type ScheduleInput } from 'belfry'
const belfry = await Belfry.open({ store: 'memory:' })
const report = belfry.handle('report', async (run: HandlerRun<{ day: string }>) => ({ rows: run.payload.day.length }))
`

const right = `${begin}
await belfry.schedules.put({ name: 'a', cron: '0 9 * * 1-5', target: report.target, payload: { day: 'x' } })
await belfry.schedules.put('a', { cron: '0 9 * * 1-5', target: report.target, payload: { day: 'x' } })
await belfry.schedules.create('b', { every: '1h', target: { handler: 'other' }, payload: { any: 1 } })
await belfry.schedules.create('c', { every: '1h', target: { command: ['date'] }, payload: [1] })
await belfry.schedules.pause('a', { for: '1h' })
await belfry.schedules.pause({ name: 'a', for: '1h' })
await belfry.runs.enqueue({ target: report.target, payload: { day: 'x' } })
await belfry.runs.enqueue({ target: null, queue: 'letters' })
const greet = belfry.handle('greet', async (run: HandlerRun<{ name?: string }>) => run.payload)
const tidy = belfry.handle('tidy', async (run: HandlerRun) => run.payload)
const maybe = belfry.handle('maybe', async (run: HandlerRun<{ day: string } | null>) => run.payload)
for (const { target } of [greet, tidy]) await belfry.runs.enqueue({ target })
await belfry.schedules.put({ name: 'e', every: '1h', target: greet.target })
await belfry.schedules.put('e', { every: '1h', target: tidy.target })
await belfry.schedules.create('f', { every: '1h', target: maybe.target })
await belfry.schedules.put('g', { every: '1h', target: { handler: 'report' } })
await belfry.schedules.put('h', { every: '1h' })
await belfry.runs.reprioritise('r-1', { priority: 5 })
await belfry.runs.reprioritise({ id: 'r-1', priority: 5 })
const input: ScheduleInput = { name: 'd', every: '1h', target: null }
const { changed } = await belfry.schedules.put(input)
export const names: string[] = [...changed, ...(await belfry.schedules.list()).map(({ name }) => name)]
export const { status } = await report.wait('r-1')
`

const wrong = [
  "await belfry.schedules.put({ name: 'a', cron: '0 9 * * *', target: report.target, payload: { day: 5 } })",
  "await belfry.schedules.create('a', { every: '1h', target: report.target, payload: { dy: 'x' } })",
  "await belfry.runs.enqueue({ target: report.target, payload: 'x' })",
  "await belfry.schedules.put({ name: 'a', crn: '0 9 * * *' })",
  "await belfry.schedules.put('a', { crn: '0 9 * * *' })",
  "await belfry.schedules.pause({ name: 'a', untill: '1h' })",
  "await belfry.runs.reprioritise('r-1', { prioritty: 5 })",
  "await belfry.runs.reprioritise('r-1')",
  "await Belfry.open({ stoer: 'memory:' })",
  'await belfry.runs.enqueue({})',
  'await belfry.runs.enqueue()',
  "await belfry.runs.enqueue({ queue: 'mail', payload: 1 })",
  "await belfry.schedules.put({ name: 'a', cron: '0 9 * * *', target: report.target })",
  "await belfry.schedules.put('a', { cron: '0 9 * * *', target: report.target })",
  "await belfry.schedules.create('a', { every: '1h', target: report.target })",
  'await belfry.runs.enqueue({ target: report.target })',
]

describe('the types tell', () => {
  let errors: string[] = []
  beforeAll(() => {
    expect(errorsIn(right)).toEqual([])
    errors = errorsIn(`${begin}${wrong.join('\n')}\n`)
  }, 60_000)

  it('a typo is told once, by one overload, with the field that was meant', () => {
    expect(errors.join('\n')).not.toMatch(/overload/)
    const told = errors.filter((line) => !line.startsWith(' ')).map((line) => line.replace(/^.*error TS\d+: /, ''))
    expect(told).toHaveLength(wrong.length)
    expect(told[3]).toMatch(/'crn' does not exist in type 'SchedulePutInput<.*>'\. Did you mean to write 'cron'/)
    expect(told[4]).toMatch(/'crn' does not exist in type 'SchedulePutOptions<.*>'\. Did you mean to write 'cron'/)
    expect(told[5]).toMatch(/'untill' does not exist in type 'SchedulePauseInput'\. Did you mean to write 'until'/)
    expect(told[6]).toMatch(
      /'prioritty' does not exist in type 'RunReprioritiseOptions'\. Did you mean to write 'priority'/,
    )
    expect(told[8]).toMatch(/'stoer' does not exist in type 'OpenOptions'\. Did you mean to write 'store'/)
  })

  it('the payload of a schedule or a run is checked against the type of its handler', () => {
    const told = errors.filter((line) => !line.startsWith(' '))
    expect(told[0]).toMatch(/Type 'number' is not assignable to type 'string'/)
    expect(told[1]).toMatch(/'dy' does not exist in type '\{ day: string; \}'/)
    expect(told[2]).toMatch(/Type 'string' is not assignable to type '\{ day: string; \}'/)
  })

  it('a run without a target does not compile: null says that it is for outside hosts', () => {
    const told = errors.filter((line) => !line.startsWith(' '))
    expect(told[9]).toMatch(
      /Property 'target' is missing in type '\{\}' but required in type 'RunEnqueueInput<unknown>'/,
    )
    expect(told[10]).toMatch(/Expected 1-2 arguments, but got 0/)
    expect(errors.filter((line) => /Property 'target' is missing/.test(line))).toHaveLength(2)
  })

  it('a schedule or a run without the payload that its handler requires does not compile', () => {
    expect(errors.filter((line) => /Property 'payload' is missing/.test(line))).toHaveLength(4)
  })

  it('what every verb and every field of it is for, in the sentences of the table', () => {
    const page = declared('verbs.d.ts')
    for (const [noun, { operations: verbs, composes = {} }] of Object.entries(nounEntries)) {
      const upper = (word: string) => `${word[0]?.toUpperCase()}${word.slice(1)}`
      const said = Object.entries({ ...verbs, ...composes }).map(([verb, { says }]) => [verb, says])
      expect(Object.fromEntries(membersOf(page, `${upper(noun)}Verbs`))).toEqual(Object.fromEntries(said))
      for (const [verb, { input, takes }] of Object.entries(verbs)) {
        const name = `${upper(noun)}${upper(verb)}`
        const own = [...membersOf(page, `${name}Options`).keys(), ...membersOf(page, `${name}Input`).keys()]
        expect(own.sort(), name).toEqual(Object.keys(input.shape).sort())
        expect([...membersOf(page, `${name}Input`).keys()]).toEqual(takes)
      }
    }
    expect(operations.length).toBeGreaterThan(50)
  })

  it('what each option of Belfry.open, start, stop, handler and serve does', () => {
    const options = membersOf(declared('library/options.d.ts'), 'OpenOptions')
    expect([...options.keys()].sort()).toEqual(Object.keys(openInput.shape).sort())
    for (const [file, name] of [
      ['index.d.ts', 'StartInput'],
      ['index.d.ts', 'StopInput'],
      ['serving.d.ts', 'HandlerOptions'],
      ['serving.d.ts', 'ServeOptions'],
    ] as const) {
      expect(membersOf(declared(file), name).size, name).toBeGreaterThan(1)
    }
  })

  it('what each noun of the library and of the client is', () => {
    const members = membersOf(declared('verbs.d.ts'), 'NounVerbs')
    expect([...members]).toEqual(Object.values(nouns).map(({ plural, says }) => [plural, says]))
    expect(declared('index.d.ts')).toMatch(/import \{ type NounVerbs \} from '\.\/verbs\.js'/)
    expect(declared('index.d.ts')).toContain('export interface Belfry extends NounVerbs')
    expect(declared('client/belfry-client.d.ts')).toMatch(/import \{ type NounVerbs \} from '\.\.\/verbs\.js'/)
    expect(declared('client/belfry-client.d.ts')).toContain('export interface BelfryClient extends NounVerbs')
  })
})
