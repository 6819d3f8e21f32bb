import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fieldsOf } from '../../../src/doors/cli/parse/command-fields.ts'
import { inputOf } from '../../../src/doors/cli/parse/command-input.ts'
import { program } from '../../../src/doors/cli/parse/program.ts'
import { Texts } from '../../../src/doors/cli/parse/read-value.ts'
import { sortedOut } from '../../../src/doors/cli/parse/unknown-flags.ts'
import { commandLine } from '../../../src/doors/cli/spelling/command-line.ts'
import { refuse } from '../../../src/operations/input/refuse-input.ts'
import { type AnyOperation, commandOf } from '../../../src/operations/operation.ts'
import { operations } from '../../../src/table.ts'
import { filesOf } from './files-of.ts'
import { shellWords } from './shell-words.ts'
import { Terminal } from './terminal.ts'

const offered = operations.filter(({ doors }) => doors.cli === true)
const nothing = { stdin: { isTTY: true } as NodeJS.ReadStream, folder: '/' }

/** The operation and the input that a command line asks for. */
async function read(line: string): Promise<{ asked: AnyOperation; input: unknown }> {
  const [, ...words] = shellWords(line)
  const cut = words.indexOf('--')
  let found: { asked: AnyOperation; input: unknown } | undefined
  const root = program('0', {
    async operation(asked, command) {
      const behind = cut < 0 ? [] : words.slice(cut + 1)
      const typed = { ...sortedOut(command, words), words: behind, options: command.optsWithGlobals() }
      const { input, problems } = await inputOf(asked, typed, new Texts(nothing), 0)
      refuse('The command', problems)
      found = { asked, input }
    },
    beside: () => Promise.resolve(),
    write: () => undefined,
    misread: (problem) => refuse('The command', [problem]),
  })
  await root.parseAsync(cut < 0 ? words : words.slice(0, cut), { from: 'user' })
  if (found === undefined) throw new Error(`nothing was asked for by ${line}`)
  return found
}

describe('the command line is the table of operations', () => {
  for (const operation of offered) {
    const words = commandOf(operation).join(' ')

    it(`has ${words}, and shows its answer to people`, () => {
      expect(operation.show).toBeDefined()
    })

    it(`reads the examples of ${words} as they are written`, async () => {
      for (const example of operation.examples) {
        const { paths, remove } = filesOf(operation, example)
        const { asked, input } = await read(commandLine(operation, example, paths))
        remove()
        expect(commandOf(asked).join(' ')).toBe(words)
        expect(input).toEqual(example)
      }
    })

    it(`lets every field of ${words} be said, each by a flag of its own`, () => {
      const flags = fieldsOf(operation).map(({ flag }) => flag)
      const shape = Object.keys(operation.input.shape)
      const said = new Set([...operation.takes, ...fieldsOf(operation).map(({ name }) => name)])
      expect(shape.filter((name) => !said.has(name) && !said.has(name.replace(/Ms$/, '')))).toEqual([])
      expect(new Set(flags).size).toBe(flags.length)
    })
  }
})

describe('what is typed', () => {
  let terminal: Terminal

  beforeEach(() => {
    terminal = new Terminal()
  })

  afterEach(() => terminal.remove())

  it('asks for help with nothing typed, with a noun alone, and with --help, and gets it on stdout', async () => {
    for (const words of ['', 'schedule', '--help', 'schedule create --help', 'up --help']) {
      const { exit, stdout, stderr } = await terminal.belfry(words)
      expect({ words, exit, stderr }).toEqual({ words, exit: 0, stderr: '' })
      expect(stdout).toContain(words.includes('create') ? '--every <duration>' : 'Usage: belfry')
    }
    const { stdout } = await terminal.belfry('')
    expect(stdout).toContain('Start with:')
  })

  it('tells the version', async () => {
    expect(await terminal.belfry('--version')).toEqual({ exit: 0, stdout: '1.2.3\n', stderr: '' })
  })

  it('may name the store before the verb or behind it', async () => {
    await terminal.belfry('queue set a --max-concurrent 2')
    const store = `sqlite:${terminal.folder}/.belfry/belfry.db`
    const before = await terminal.belfry(['--store', store, '--json', 'queue', 'list'], { folder: '/' })
    const behind = await terminal.belfry(['queue', 'list', '--store', store, '--json'], { folder: '/' })
    expect(before.stdout).toContain('"maxConcurrent": 2')
    expect(behind.stdout).toBe(before.stdout)
  })

  it('is answered with the whole command that asks for the rest of a list', async () => {
    for (const name of ['a b', 'c']) await terminal.belfry(['queue', 'set', name, '--max-concurrent', '2'])
    expect((await terminal.belfry('queue list --limit 1')).stdout).toMatch(
      /^NAME.*\na b .*\nmore: belfry queue list --limit 1 --after 'a b'\n$/,
    )
    expect((await terminal.belfry(['queue', 'list', '--after', 'a b'])).stdout).toMatch(/^NAME.*\nc .*\n$/)
    expect((await terminal.belfry('queue list --after c')).stdout).toBe('None.\n')
    for (const name of ['x', 'y']) await terminal.belfry(`schedule create ${name} --every 1h --handler h`)
    expect((await terminal.belfry('schedule list --limit 1')).stdout).toMatch(
      /\nmore: belfry schedule list --limit 1 --after x\n$/,
    )
    expect((await terminal.belfry('schedule list')).stdout).not.toContain('more:')
  })

  it('keeps what stands behind -- for the program, whatever it looks like', async () => {
    await terminal.belfry('schedule create a --every 1h -- echo --every 5s --json -- x')
    const { target } = await terminal.json<{ target: { command: string[] } }>('schedule show a')
    expect(target.command).toEqual(['echo', '--every', '5s', '--json', '--', 'x'])
  })

  it('reads an input from a file, from a pipe, and lets flags go before it', async () => {
    terminal.write('s.json', JSON.stringify({ name: 'a', every: '1h', priority: 7, target: { handler: 'h' } }))
    await terminal.belfry('schedule put --file s.json --priority 8')
    expect(await terminal.json('schedule show a')).toMatchObject({ priority: 8, everyMs: 3_600_000 })
    const piped = JSON.stringify({ every: '2h', target: { handler: 'h' } })
    await terminal.belfry('schedule put b --file -', { stdin: piped })
    expect(await terminal.json('schedule show b')).toMatchObject({ everyMs: 7_200_000 })
  })

  it('reads payloads and bodies as they stand, from a file and from a pipe', async () => {
    terminal.write('p.json', '{"a":[1]}')
    await terminal.belfry('schedule create a --every 1h --handler h --payload @p.json')
    await terminal.belfry('schedule create b --every 1h --handler h --payload -', { stdin: '"text"' })
    await terminal.belfry('schedule create c --every 1h --http http://localhost/x --body - --header a:b', {
      stdin: 'raw\n',
    })
    expect(await terminal.json('schedule show a')).toMatchObject({ payload: { a: [1] } })
    expect(await terminal.json('schedule show b')).toMatchObject({ payload: 'text' })
    expect(await terminal.json('schedule show c')).toMatchObject({
      target: { http: { url: 'http://localhost/x', body: 'raw\n', headers: { a: 'b' } } },
    })
  })

  it('never stores the value of a secret that a flag names', async () => {
    const line = 'schedule create a --every 1h --env-secret TOKEN=API --command env'
    await terminal.belfry(line)
    expect(await terminal.json('schedule show a')).toMatchObject({ target: { env: { TOKEN: { secret: 'API' } } } })
  })

  it('takes fields away with --unset, and leaves the others', async () => {
    await terminal.belfry('schedule create a --every 1h --timeout 5s --tags x,y --handler h')
    await terminal.belfry('schedule update a --unset timeout,tags --priority 3')
    const shown = await terminal.json<Record<string, unknown>>('schedule show a')
    expect(shown).toMatchObject({ priority: 3, everyMs: 3_600_000 })
    expect(shown).not.toHaveProperty('timeoutMs')
    expect(shown).not.toHaveProperty('tags')
  })
})
