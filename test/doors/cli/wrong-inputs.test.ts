import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { schemaVersion } from '../../../src/open-store.ts'
import { openHandle, type SqliteHandle } from '../../../src/store/sqlite/driver.ts'
import { postgresUrl } from '../../postgres.ts'
import { type Said, Terminal } from './terminal.ts'
import { type WrongInput, wrongInputs } from './wrong-inputs-table.ts'

/**
 * Everything that people type wrong, on real stores, kept as the page that a person would read: `wrong-inputs.md`.
 * `npx vitest run test/doors/cli/wrong-inputs.test.ts -u` writes it anew; what changed in it is to be read before it is
 * kept, because nothing else judges whether a message helps.
 */
const all = wrongInputs.flatMap(({ cases }) => cases)
const said = new Map<WrongInput, Said>()
const terminal = new Terminal()
/** Nothing is in it or above it. */
const elsewhere = new Terminal()
const newerSchema = `wrong_${Math.random().toString(36).slice(2, 10)}`
/** What stands in the lines of the table, and in the page, for what is other on every machine. */
const names = new Map<string, string>()
let holder: SqliteHandle
let before: unknown
let after: unknown

beforeAll(async () => {
  makeFiles()
  await makeStore()
  await makeBadStores()
  before = await content()
  // Whoever waits for a lock waits while the others are refused.
  const waits = all.filter(([, , line]) => line.includes('locked.db')).map((one) => type(one))
  for (const one of all) if (!one[2].includes('locked.db')) await type(one)
  await Promise.all(waits)
  after = await content()
}, 60_000)

afterAll(async () => {
  holder.close()
  await onServer(`drop schema "${newerSchema}" cascade`)
  chmodSync(join(terminal.folder, 'frozen'), 0o755)
  for (const each of [terminal, elsewhere]) each.remove()
})

describe('what is typed wrong', () => {
  for (const wrong of all) {
    const [exit, what, line] = wrong

    it(`is refused with ${exit}: ${what} (${line})`, () => {
      const { exit: is, stdout, stderr } = answerOf(wrong)
      expect({ exit: is, stdout }).toEqual({ exit, stdout: '' })
      expect(stderr).toMatch(line.includes('--json') ? /^\{"error":\{"code":/ : /^(note: .+\n)?error: /)
      // What would be right, or what to do.
      expect(stderr).toMatch(/expected|hint/)
      expect(stderr).not.toMatch(/nobody foresaw|unexpected error|undefined|\[object|^ +at /m)
      expect(stderr).not.toContain('secret@')
    })
  }

  it('has changed nothing, and left nothing behind', () => {
    expect(after).toEqual(before)
    expect(readdirSync(elsewhere.folder)).toEqual([])
  })

  it('is told as the page tells it', async () => {
    await expect(page()).toMatchFileSnapshot('wrong-inputs.md')
  })
})

/** A file that cannot be read, one that is no program, and the folders in which the lines are typed. */
function makeFiles(): void {
  chmodSync(terminal.folder, 0o755)
  for (const folder of ['here', 'frozen']) mkdirSync(join(terminal.folder, folder))
  chmodSync(terminal.write('notes.txt', 'Buy milk.\n'), 0o644)
  terminal.write('broken.json', '{\n  "day": "today",\n  "rows": [1, 2\n')
  terminal.write('big.json', JSON.stringify('x'.repeat(256 * 1024)))
  terminal.write('list.json', '[{"every":"1h"}]')
  terminal.write('field.json', '{"evry":"1h","target":{"handler":"h"}}')
  terminal.write('value.json', '{"every":"10","target":{"http":{"url":"example.org"}}}')
  terminal.write('fine.json', '{"every":"1h","target":{"handler":"h"}}')
  terminal.write('policy.json', '{"maxConcurent":3}')
  terminal.write('broken.yaml', 'source: ops\nschedules:\n  a: [1, 2\n')
  terminal.write('star.yaml', 'source: ops\nschedules:\n  a:\n    cron: */5 * * * *\n')
  terminal.write('list.yaml', '- source: ops\n')
  terminal.write(
    'wrong.yaml',
    'sorce: ops\nqueues: { mail: { maxConcurrent: many } }\nschedules: { a: { evry: 1h } }\n',
  )
  terminal.write('taken.yaml', 'source: ops\nschedules: { ping: { every: 20m, target: { handler: ping } } }\n')
  terminal.write('noise.db', 'This is no database, and long enough to be read as the beginning of one. '.repeat(20))
}

/** A store in which something has happened: a run of every kind that a line needs. */
async function makeStore(): Promise<void> {
  const id = async (line: string) => (await terminal.json<{ id: string }>(line)).id
  await terminal.json('queue set mail --max-attempts 1')
  names.set('PARKED', await id('run enqueue --queue mail --command false'))
  await terminal.belfry('up --once --quiet')
  await terminal.json(['schedule', 'create', 'nightly', '--cron', '0 2 * * *', '--handler', 'report'])
  await terminal.json('schedule create once --at 2099-12-01T09:00Z --handler report')
  await terminal.json('schedule create ping --every 10m --handler ping')
  await terminal.json('schedule create gone --every 10m --handler ping')
  names.set('PING', await id('schedule run ping'))
  names.set('ORPHAN', await id('schedule run gone'))
  await terminal.json('schedule delete gone --yes')
  names.set('READY', await id('run enqueue --handler report --idempotency-key key-1'))
}

/** Stores that cannot be used, each for a reason of its own. */
async function makeBadStores(): Promise<void> {
  for (const file of ['newer.db', 'locked.db', 'frozen/belfry.db']) {
    await terminal.json(`queue set mail --store sqlite:${join(terminal.folder, file)}`)
  }
  const newer = openHandle(join(terminal.folder, 'newer.db'))
  newer.exec("insert into migration values (999, 'of tomorrow', 0)")
  newer.close()
  holder = openHandle(join(terminal.folder, 'locked.db'))
  holder.exec('begin immediate')
  chmodSync(join(terminal.folder, 'frozen/belfry.db'), 0o444)
  chmodSync(join(terminal.folder, 'frozen'), 0o555)
  await terminal.json(`queue set default --max-concurrent 5 --store ${postgresUrl()} --schema ${newerSchema}`)
  await onServer(`insert into "${newerSchema}".migration values (999, 'of tomorrow', 0)`)
  names.set('NEWER', newerSchema)
  names.set('PORT', new URL(postgresUrl()).port)
  names.set('CLOSED', String(await closedPort()))
  names.set('LONG', 'x'.repeat(201))
  names.set('SHOWN', `belfry_t-11_${'0'.repeat(64)}`)
  names.set('ELSEWHERE', elsewhere.folder)
}

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl() })
  await client.connect()
  await client.query(text)
  await client.end()
}

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function content(): Promise<unknown> {
  const lists = ['schedule list', 'queue list', 'run list', 'schedule hints nightly', 'schedule versions nightly']
  return Promise.all(lists.map((line) => terminal.json(line)))
}

const lineForm = /^(?:cd (\S+) && )?(?:echo (?:-n )?'([^']*)' \| )?((?:[A-Z_]+=\S+ )*)belfry ?(.*)$/

/** Types a line of the table. What a shell would do with it is done here: folder, pipe, environment, quotes. */
async function type(wrong: WrongInput): Promise<void> {
  const line = [...names].reduce((text, [name, value]) => text.replaceAll(name, value), wrong[2])
  const [, folder = '.', stdin, settings = '', command = ''] = lineForm.exec(line) ?? []
  const env = Object.fromEntries(settings.split(' ').flatMap((pair) => (pair === '' ? [] : [pair.split('=')])))
  const typing = { folder: resolve(terminal.folder, folder), env, ...(stdin !== undefined && { stdin }) }
  const answer = () => terminal.belfry(wordsOf(command), typing)
  said.set(wrong, line.includes('frozen/') ? await withoutRights(answer) : await answer())
}

/** Root may write whatever stands in the modes of a file, so that root types this as somebody else. */
async function withoutRights<Answer>(act: () => Promise<Answer>): Promise<Answer> {
  const nobody = 65534
  if (process.geteuid?.() !== 0) return act()
  process.seteuid?.(nobody)
  try {
    return await act()
  } finally {
    process.seteuid?.(0)
  }
}

function wordsOf(command: string): string[] {
  const words = command.match(/(?:[^\s']|'[^']*')+/g) ?? []
  return words.map((word) => word.replace(/'([^']*)'/g, '$1'))
}

function answerOf(wrong: WrongInput): Said {
  const answer = said.get(wrong)
  if (answer === undefined) throw new Error(`was not typed: ${wrong[2]}`)
  return answer
}

const opening = `# What the command line says to what is typed wrong

Made by \`wrong-inputs.test.ts\`, which types every line and compares. FOLDER is where it was typed, NOW the instant, and
other words in capitals stand for what is other on every machine.
`

function page(): string {
  const chapters = wrongInputs.map(({ about, cases }) => `## ${about}\n\n${cases.map(entry).join('\n')}`)
  return `${opening}\n${chapters.join('\n')}`
}

function entry(wrong: WrongInput): string {
  const [, what, line] = wrong
  const { exit, stderr } = answerOf(wrong)
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)} – exit ${exit}\n\n\`\`\`console\n$ ${line}\n${named(stderr)}\`\`\`\n`
}

function named(text: string): string {
  const instants = text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (found) => {
    return Math.abs(Date.parse(found) - systemClock.now()) < 7_200_000 ? 'NOW' : found
  })
  const known = instants
    .replaceAll(terminal.folder, 'FOLDER')
    .replaceAll(`up to ${schemaVersion} `, 'up to KNOWN ')
    .replaceAll(`"known":${schemaVersion}`, '"known":KNOWN')
  return [...names].reduce((told, [name, value]) => {
    return told.replaceAll(new RegExp(`(?<![\\w-]|such as )${value}(?!\\w)`, 'g'), name)
  }, known)
}
