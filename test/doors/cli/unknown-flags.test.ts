import { mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { commandLine } from '../../../src/doors/cli/spelling/command-line.ts'
import type { Problem } from '../../../src/operations/input/refuse-input.ts'
import { commandOf } from '../../../src/operations/operation.ts'
import { listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { operations } from '../../../src/table.ts'
import { onPorch, origin } from '../http/porch.ts'
import { filesOf } from './files-of.ts'
import { shellWords } from './shell-words.ts'
import { Terminal } from './terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = new Terminal()
})
afterEach(() => terminal.remove())

/** What is wrong with a line, by field. */
async function problemsOf(words: readonly string[], env: Record<string, string> = {}) {
  const cut = words.indexOf('--')
  const { exit, stdout, stderr } = await terminal.belfry(words.toSpliced(cut < 0 ? words.length : cut, 0, '--json'), {
    env,
  })
  expect({ exit, stdout }, stderr).toEqual({ exit: 2, stdout: '' })
  const { details } = (JSON.parse(stderr) as { error: { details: { problems: Problem[] } } }).error
  return Object.fromEntries(details.problems.map(({ field, problem, expected }) => [field, { problem, expected }]))
}

async function fieldsOf(line: string | readonly string[]): Promise<string[]> {
  return Object.keys(await problemsOf(typeof line === 'string' ? line.split(' ') : line)).sort()
}

const broken = ['schedule', 'create', 'z', '--cron', '0 2 * * 9', '--zone', 'Europe/Pariss', '--foo', '1']

describe('a flag that a command does not have', () => {
  it('is told together with everything else that is wrong with the line, each with its nearest name', async () => {
    const problems = await problemsOf([...broken, '--maxruns', '3'])
    expect(Object.keys(problems).sort()).toEqual(['--foo', '--maxruns', 'cron', 'the target', 'zone'])
    expect(problems['--maxruns']).toEqual({
      problem: 'is not a flag of belfry schedule create',
      expected: '--max-runs, if that was meant',
    })
    expect(problems['--foo']?.expected).toBe('a flag that --help shows')
    const { stderr, exit } = await terminal.belfry([...broken, '--maxruns', '3'])
    expect(exit).toBe(2)
    for (const flag of ['--foo', '--maxruns', '--cron', '--zone']) expect(stderr).toContain(`  ${flag} `)
    expect(readdirSync(terminal.folder)).toEqual([])
  })

  it('has a word behind it that is not taken for an argument, unless the flag that was meant takes no value', async () => {
    expect(await fieldsOf('schedule show nightly --foo 1')).toEqual(['--foo'])
    expect(await fieldsOf('schedule show nightly --foo 1 more')).toEqual(['"more"', '--foo'])
    expect(await fieldsOf('schedule show --foo=1 nightly')).toEqual(['--foo'])
    expect(await fieldsOf('schedule delete --yess nightly')).toEqual(['--yess'])
    expect(await fieldsOf('schedule list --limt 3')).toEqual(['--limt'])
    // What stands behind another flag is not behind this one.
    expect(await fieldsOf('schedule list --foo --limit 3 more')).toEqual(['"more"', '--foo'])
    expect((await problemsOf('schedule show --foo nightly'.split(' '))).NAME).toEqual({
      problem: 'is missing, unless it is the word after --foo',
      expected: 'NAME before the flags',
    })
    expect((await problemsOf('schedule show --foo=1'.split(' '))).name?.problem).toBe('is missing')
  })

  it('has its value judged as that of the flag that was meant, so that nothing is told as missing that was given', async () => {
    expect(await fieldsOf('schedule create z --evry 1h --from end --comand date')).toEqual(['--comand', '--evry'])
    expect(await fieldsOf('schedule create z --evry 10 --handler h')).toEqual(['--evry', 'every'])
    expect(await fieldsOf('schedule create z --every 1h --comand -- date')).toEqual(['--comand'])
    terminal.write('fine.json', '{"every":"1h","target":{"handler":"h"}}')
    expect(await fieldsOf('schedule create z --fil fine.json')).toEqual(['--fil'])
  })

  it('names no other store or server by what is near to it', async () => {
    expect(await fieldsOf('run enqueue --handler h --stor sqlite:other.db --servr http://127.0.0.1:1')).toEqual([
      '--servr',
      '--stor',
    ])
    expect(readdirSync(terminal.folder)).toEqual([])
  })

  it('never has its value repeated, which may be a secret', async () => {
    const { stderr } = await terminal.belfry('queue list --token s3cret --pasword=s3cret')
    expect(stderr).toContain('--token ')
    expect(stderr).not.toContain('s3cret')
  })

  it('is told with a store that cannot be, a flag that is given twice and one with nothing behind it', async () => {
    expect(await fieldsOf('schedule list --limit x --foo --store mysql://h/x')).toEqual(['--foo', '--store', 'limit'])
    expect(await fieldsOf('schedule list --foo --store sqlite:a.db --store sqlite:b.db')).toEqual(['--foo', '--store'])
    expect(await fieldsOf('schedule create z --every 1 --handler h --foo --cron')).toEqual(['--cron', '--foo', 'every'])
    expect(await fieldsOf('schedule create z --start-now --no-start-now --foo --handler h')).toContain('--foo')
    expect((await terminal.belfry('--store')).exit).toBe(2)
    expect((await terminal.belfry('schedule --store')).exit).toBe(2)
  })

  it('is told with what else is wrong with a worker, a server for agents, a file and trust', async () => {
    mkdirSync(join(terminal.folder, '.belfry'))
    terminal.write('wrong.yaml', 'sorce: ops\nsource: ops\n')
    terminal.write('broken.yaml', 'source: [1\n')
    expect(await fieldsOf('up --slots x --grace soon --frobnicate 1 --onc')).toEqual([
      '--frobnicate',
      '--grace',
      '--onc',
      '--slots',
    ])
    expect(await fieldsOf('mcp --scope all --tools nope --frobnicate')).toEqual(['--frobnicate', '--scope', '--tools'])
    expect(await fieldsOf('apply wrong.yaml --dryrun')).toEqual(['--dryrun', 'sorce'])
    expect(await fieldsOf('apply broken.yaml --frobnicate')).toEqual([
      '--frobnicate',
      join(terminal.folder, 'broken.yaml'),
    ])
    expect(await fieldsOf('trust wrong.yaml --frobnicate')).toEqual(['--frobnicate', 'sorce'])
    expect(await fieldsOf('trust --store --frobnicate')).toEqual(['--frobnicate'])
    expect(readdirSync(join(terminal.folder, '.belfry'))).toEqual([])
  })
})

describe('a flag before the words of its command', () => {
  const rest = 'create z --cron x'

  it('is told together with everything else that is wrong with the line', async () => {
    const fields = ['--bogus', 'cron', 'the target']
    for (const line of [
      `--bogus schedule ${rest}`,
      `schedule --bogus ${rest}`,
      `--bogus=1 schedule ${rest}`,
      `--bogus 1 --namespace tenant schedule ${rest}`,
    ]) {
      expect(await fieldsOf(line), line).toEqual(fields)
    }
    expect(await fieldsOf(`--foo schedule --bogus ${rest}`)).toEqual(['--bogus', '--foo', 'cron', 'the target'])
    expect(await fieldsOf('--bogus up --slots x')).toEqual(['--bogus', '--slots'])
    expect(await fieldsOf('--bogus explain z --foo')).toEqual(['--bogus', '--foo'])
    expect(readdirSync(terminal.folder)).toEqual([])
  })

  it('is told with a command that there is not, and alone where there is nothing else', async () => {
    expect(await fieldsOf('--bogus schedule frobnicate')).toEqual(['"frobnicate"', '--bogus'])
    expect(await fieldsOf('--bogus')).toEqual(['--bogus'])
    expect(await fieldsOf('schedule --bogus')).toEqual(['--bogus'])
  })

  it('is refused where the command has it, with the place where it belongs, and is judged as if it stood there', async () => {
    const problems = await problemsOf('--every 10 --dry-run schedule create z --handler h'.split(' '))
    expect(Object.keys(problems).sort()).toEqual(['every', 'the command'])
    expect(problems['the command']).toEqual({
      problem: 'has --dry-run before it',
      expected: '--dry-run after schedule create',
    })
  })
})

describe('nothing is done where a flag is not known', () => {
  const offered = operations.filter(({ doors }) => doors.cli === true)

  it('by no verb, on a store that is there', async () => {
    await terminal.json('schedule create nightly --every 1h --handler report')
    await terminal.json('run enqueue --handler report')
    const state = () =>
      Promise.all(
        ['schedule list', 'run list', 'queue list', 'token list', 'routine list'].map((line) => terminal.json(line)),
      )
    const before = await state()
    for (const operation of offered) {
      const example = operation.examples[0] ?? {}
      const { paths, remove } = filesOf(operation, example)
      const [, ...words] = shellWords(commandLine(operation, example, paths))
      const cut = words.indexOf('--')
      const problems = await problemsOf(words.toSpliced(cut < 0 ? words.length : cut, 0, '--frobnicate'))
      remove()
      expect(problems, commandOf(operation).join(' ')).toHaveProperty('--frobnicate')
    }
    expect(await state()).toEqual(before)
  })
})

describe('a flag that is not known, at a server', () => {
  const porch = onPorch()

  async function served(): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = []
    const server = createServer(async (request, response) => {
      const { method = 'GET', url = '', headers } = request
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      asked.push(`${method} ${url}`)
      const { authorization = '', 'content-type': type = 'application/json' } = headers
      const body = Buffer.concat(chunks).toString()
      const init = { method, headers: { host: '127.0.0.1:4747', authorization, 'content-type': type } }
      const answer = await porch().door.fetch(new Request(origin + url, { ...init, ...(body !== '' && { body }) }))
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }

  it('is told with what the server finds wrong, or with what is found here where the server does not judge', async () => {
    const { url } = await served()
    const fields = ['--foo', '--maxruns', 'cron', 'zone']
    const line = [...broken, '--maxruns', '3', '--handler', 'h', '--server']
    for (const [server, scope] of [
      [url, 'admin'],
      [url, 'read'],
      ['http://127.0.0.1:1', 'admin'],
    ] as const) {
      const problems = await problemsOf([...line, server], { BELFRY_TOKEN: porch().tokens.get(scope) ?? '' })
      expect(Object.keys(problems).sort(), `${server} ${scope}`).toEqual(fields)
    }
    const { store } = porch().desk
    expect(await store.look(listSchedules, { limit: 10 })).toEqual([])
  })
})
