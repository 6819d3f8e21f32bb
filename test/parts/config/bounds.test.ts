import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apply } from '../../../src/parts/config/apply-operation.ts'
import { type ConfigFile, readConfigFile } from '../../../src/parts/config/config-file.ts'
import { tokensOf } from '../../../src/parts/config/document-bounds.ts'
import { nouns } from '../../../src/table.ts'
import { Desk } from '../../operations/desk.ts'
import { workOf } from './work.ts'

const { shape } = nouns.schedule.operations.create.input.def
const fieldCount = Object.keys(shape).length

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-bounds-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Read {
  readonly message: string | null
  readonly calls: number
}

/** Reads a file of this text, and counts what that costs. */
async function reading(text: string): Promise<Read> {
  const path = join(folder, 'belfry.yaml')
  writeFileSync(path, text)
  let message: string | null = null
  const { calls } = await workOf(() =>
    readConfigFile(path).catch((error: Error) => {
      message = error.message
    }),
  )
  return { message, calls }
}

const names = (count: number) => `a:\n${Array.from({ length: count }, (_, at) => ` n${at}:\n`).join('')}`
/** As much as a file may have: a thousand schedules, and something that is wrong at the end of the last. */
const largest = `source: ops\nschedules:\n${Array.from(
  { length: 1_000 },
  (_, at) =>
    `  s${at}:\n    cron: '0 2 * * *'\n    zone: Europe/Paris\n    target: { command: [./backup.sh, --full], cwd: . }\n    timeout: 2h\n    queue: mail\n    tags: [a, b]\n`,
).join('')}    tags: []\n`

/** A thousand schedules of which only the last is wrong, so that all of them are judged. */
const wrongAtLast = `source: ops\nschedules:\n${Array.from(
  { length: 1_000 },
  (_, at) =>
    `  s${at}: { cron: '${at % 60} ${at % 24} * * *', zone: Europe/Paris, target: { handler: h${at}${at === 999 ? ', bogus: 1' : ''} } }\n`,
).join('')}`

/** How often the rest of the process has its turn meanwhile. */
async function turnsOf<Result>(act: () => Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = -1
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  turn()
  const result = await act()
  isDone = true
  return { result, turns }
}

/** What a store says to a file that is trusted. */
async function applying({ document }: Pick<ConfigFile, 'document'>): Promise<string> {
  const desk = await Desk.open()
  try {
    return await apply.call(desk.context, document).then(
      () => 'applied',
      (error: Error) => error.message,
    )
  } finally {
    await desk.store.close()
  }
}

describe('a file that is meant to keep a worker busy', () => {
  it('with a megabyte of names costs less to refuse than a file of a thousand schedules', async () => {
    const honest = await reading(largest)
    expect(honest.message).toContain('the name "tags" is given twice')
    const hostile = await reading(names(99_000))
    expect(hostile.message).toContain('has more than 100000 tokens')
    expect(hostile.calls).toBeLessThan(honest.calls)
  })

  it('with twice as many names is twice the work, and not four times', async () => {
    const [half, whole] = [await reading(`${names(4_000)} n1:\n`), await reading(`${names(8_000)} n1:\n`)]
    expect(whole.message).toContain('the name "n1" is given twice')
    expect(whole.calls / half.calls).toBeLessThan(2.5)
  })

  it.each([
    ['commas', `a: [${'1,'.repeat(400_000)}]`],
    ['anchors', `a: [${'&x 1,'.repeat(200_000)}]`],
    ['what is no YAML', `a: [${'@,'.repeat(400_000)}]`],
    ['comments', '#\n'.repeat(400_000)],
  ])('with nothing but %s is refused before it is parsed', async (_, text) => {
    const { message, calls } = await reading(text)
    expect(message).toContain('has more than 100000 tokens')
    expect(calls).toBeLessThan(3_000_000)
  })

  it('with parts deep inside each other is refused, and does not end the process', async () => {
    for (const text of [`a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`, `${'- '.repeat(20_000)}a`]) {
      expect((await reading(text)).message).not.toBeNull()
    }
  })

  const nested: Readonly<Record<string, (levels: number) => string>> = {
    'lists in brackets': (levels) => `a: ${'['.repeat(levels - 1)}1${']'.repeat(levels - 1)}`,
    'records in brackets': (levels) => `a: ${'{a: '.repeat(levels - 1)}1${'}'.repeat(levels - 1)}`,
    'lists in a line': (levels) => `a:\n${'- '.repeat(levels - 2)}1`,
    'names that are records, which have no text': (levels) => `a:\n ${'? '.repeat(levels - 2)}1`,
    'indented names': (levels) => Array.from({ length: levels }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
    'lists in the columns of their names': (levels) =>
      `${Array.from({ length: levels / 2 }, (_, at) => `a:\n${' '.repeat(2 * at)}- `).join('')}1`,
    'names in a line, which is wrong': (levels) => 'a: '.repeat(levels),
    'lists without brackets in brackets, which is wrong': (levels) => `a: [${'- '.repeat(levels)}1]`,
  }

  it.each(Object.keys(nested))('with over 50 levels is refused before it is parsed: %s', async (how) => {
    const text = nested[how] as (levels: number) => string
    const { message, calls } = await reading(text(1_000))
    expect(message).toContain('is nested too deeply (expected: at most 50 levels)')
    expect(calls).toBeLessThan(50_000)
    expect((await reading(text(54))).message).toContain('too deep')
    if (!how.includes(', which')) expect((await reading(text(48))).message).toBeNull()
  })

  it('has as many levels as its deepest part, and not as all of them together', async () => {
    const text = Array.from(
      { length: 500 },
      (_, at) => `n${at}:\n  - a: [1, {b: - }]\n    c: |\n      ? - -\n  - x # - -\n`,
    )
    expect((await reading(text.join('').replaceAll('- }', '1}'))).message).toBeNull()
  })

  it('with lists and records as names is refused before they are written out as texts', async () => {
    const { message, calls } = await reading(`${'? '.repeat(40)}\n`.repeat(1_000))
    expect(message).toContain('has a list or a record as a name (expected: a text)')
    expect(calls).toBeLessThan(4_000_000)
    expect((await reading('? [a]\n: 1\n')).message).toContain('has a list or a record as a name')
  })

  it('with many documents is refused at the second', async () => {
    const { message, calls } = await reading('---\na: 1\n'.repeat(10_000))
    expect(message).toContain('at line 3, column 1: a second document begins.')
    expect(calls).toBeLessThan(2_000_000)
    expect((await reading('a: [\n---\nb: 1\n')).message).toContain('at line 2, column 1: Flow')
  })

  it('is cut into words and signs once', async () => {
    const path = join(folder, 'belfry.yaml')
    writeFileSync(path, largest)
    const tokens = (await tokensOf(largest)) as readonly string[]
    const work = await workOf(() => readConfigFile(path).catch(() => null))
    expect(work.of('lex')).toBeLessThan(1.1 * tokens.length)
  })

  it('lets the worker go on between its words, and between its entries', async () => {
    const path = join(folder, 'belfry.yaml')
    writeFileSync(path, wrongAtLast)
    const tokens = (await tokensOf(wrongAtLast)) as readonly string[]
    const read = await turnsOf(() => readConfigFile(path))
    expect(read.turns).toBeGreaterThan((2 * tokens.length) / 5_000 - 2)
    const judged = await turnsOf(() => applying(read.result))
    expect(judged.result).toContain('schedules.s999.target.bogus')
    expect(judged.turns).toBeGreaterThan(1_000 / 50 - 2)
  })

  it('with its only fault in the last of a thousand schedules costs a bounded number of calls for each of them', async () => {
    const path = join(folder, 'belfry.yaml')
    writeFileSync(path, wrongAtLast)
    const tokens = (await tokensOf(wrongAtLast)) as readonly string[]
    const read = await workOf(() => readConfigFile(path))
    expect(read.calls / tokens.length).toBeLessThan(34)
    const file = await readConfigFile(path)
    const judged = await workOf(() => applying(file))
    // Schedules that have these names already are asked for at once.
    expect(judged.of('schedulesNamed')).toBeGreaterThan(0)
    expect(judged.of('schedulesNamed')).toBeLessThan(10)
    expect(judged.of('findScheduleRow')).toBe(0)
    // Each field is looked at, whether it is given or not; parts add fields.
    expect(judged.calls / 1_000 / fieldCount).toBeLessThan(6.7)
  })

  it('is judged once, however often a worker looks at it', async () => {
    const first = await reading(largest)
    const second = await reading(largest)
    expect(second.message).toBe(first.message)
    expect(second.calls).toBeLessThan(first.calls / 100)
  })
})
