import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Terminal } from '../doors/cli/terminal.ts'
import { postgresUrl } from '../postgres.ts'
import { type Running, Shell } from './belfry-process.ts'
import { hostSteps, steps, workedSteps } from './parity-steps.ts'
import { type Line, play, type Typist } from './play.ts'
import type { Step } from './step.ts'

interface Server {
  readonly shell: Shell
  readonly running: Running
  readonly url: string
  /** The token that the server wrote for whoever works in its folder. */
  readonly token: string
}

/** A worker with its door open, and the zone that the terminals of these tests have. */
async function served(database: 'sqlite' | 'postgres' = 'sqlite'): Promise<Server> {
  const shell = new Shell(database)
  const running = shell.start('up --listen 127.0.0.1:0 --name ringer', { env: { BELFRY_ZONE: 'Europe/Paris' } })
  await running.told(/It listens at (\S+) /)
  const [, url = ''] = /It listens at (\S+) /.exec(running.stdout) ?? []
  return { shell, running, url, token: readFileSync(join(shell.folder, '.belfry', 'token'), 'utf8').trim() }
}

/** A terminal in a folder of its own, in which there is neither a store nor a token. */
function elsewhere(env: Readonly<Record<string, string>> = {}): Terminal {
  const terminal = new Terminal(env)
  onTestFinished(() => terminal.remove())
  return terminal
}

function withServer(words: readonly string[], url: string): string[] {
  const cut = words.indexOf('--')
  const server = ['--server', url]
  return cut < 0 ? [...words, ...server] : [...words.slice(0, cut), ...server, ...words.slice(cut)]
}

const who = 'typist'

/** Somebody at the store itself, or at a server; what no server can be asked for is typed at its store. */
async function typistAt({ shell, url }: Server, way: 'store' | 'server'): Promise<Typist> {
  const { token } = await shell.json<{ token: string }>(`token create ${who} --scope admin`)
  const places = [url, `${shell.folder}/.belfry/belfry.db`, postgresUrl(), shell.folder]
  if (way === 'store') return { places, belfry: (words, typing) => shell.belfry(words, typing) }
  const terminal = elsewhere({ BELFRY_TOKEN: token })
  const belfry: Typist['belfry'] = (words, typing) =>
    words[1] === 'wait' ? shell.belfry(words, typing) : terminal.belfry(withServer(words, url), typing)
  return { places, belfry }
}

/**
 * Without what is the point of a server: who did it, and through which door. That a token was used is noted a little later,
 * and the one that the server made for itself has another name each time.
 */
function alike(lines: readonly Line[]): unknown[] {
  const names = new RegExp(`\\b(${who}|${userInfo().username})\\b`, 'g')
  return lines.map((line) => {
    const text = JSON.stringify(line.typed.startsWith('token list') ? { ...line, shown: '' } : line)
      .replace(names, '<who>')
      .replace(/local [^\s"]+ [^\s"]+/g, '<own token>')
      .replace(/"door":"(cli|http)"/g, '"door":"<door>"')
      .replace(/\((cli|http)\)/g, '(<door>)')
      .replace(/ (cli|http) (?=[a-z]-\d)/g, ' <door> ')
      .replace(/"usedAt":("[^"]*"|null)/g, '"usedAt":null')
    return JSON.parse(text) as unknown
  })
}

/** Commands about programs, terminals and folders of the caller's machine, which a server refuses. */
const ofThisMachine = ['agent check', 'task export', 'run screen', 'run attach', 'workspace prune', 'import claude']
const isOfThisMachine = ({ words }: Step) => ofThisMachine.includes(words({}).slice(0, 2).join(' '))

/** What the databases do alike is told elsewhere, of every verb; here it is the way that is compared. */
const played = {
  sqlite: [...steps, ...hostSteps, ...workedSteps].filter((step) => !isOfThisMachine(step)),
  postgres: hostSteps,
}

describe.each(['sqlite', 'postgres'] as const)('a command that is asked of a server on %s', (database) => {
  it('answers, refuses and shows what it does on the store itself', async () => {
    const [near, far] = await Promise.all(
      (['store', 'server'] as const).map(async (way) => {
        const server = await served(database)
        return alike(await play(await typistAt(server, way), played[database]))
      }),
    )
    expect(far).toEqual(near)
  })
})

describe('a server that is named', () => {
  it('is shown the token of its own folder, of the environment or of a file, and never one that was typed', async () => {
    const { shell, url, token } = await served()
    const list = ['queue', 'list', '--json', '--server', url]
    const beside = elsewhere()
    const file = beside.write('token', `${token}\n`)
    expect((await beside.belfry(list, { folder: shell.folder })).exit).toBe(0)
    expect((await beside.belfry(list, { env: { BELFRY_TOKEN: token } })).exit).toBe(0)
    expect((await beside.belfry([...list, '--token-file', file])).exit).toBe(0)
    expect((await beside.belfry('queue list', { env: { BELFRY_SERVER: url, BELFRY_TOKEN: token } })).exit).toBe(0)
    expect((await beside.belfry(list)).exit).toBe(6)
    expect((await beside.belfry([...list, '--token', token])).exit).toBe(2)
  })

  it('decides by the token who may do what, and is not asked where there is no such token', async () => {
    const { shell, url } = await served()
    const { token } = await shell.json<{ token: string }>('token create looker')
    const terminal = elsewhere({ BELFRY_TOKEN: token, BELFRY_SERVER: url })
    expect((await terminal.belfry('queue list')).exit).toBe(0)
    const refused = await terminal.belfry('queue set mail --max-concurrent 2')
    expect(refused).toMatchObject({
      exit: 6,
      stdout: '',
      stderr: expect.stringContaining('"looker" has the scope read'),
    })
    await shell.json('token revoke looker')
    const gone = await terminal.belfry('queue list')
    expect(gone).toMatchObject({ exit: 6, stdout: '' })
    expect(gone.stderr).toContain('The token was revoked.')
    expect(gone.stderr).toContain('The token came from BELFRY_TOKEN.')
  })

  it('says on stderr where something was written, and leaves the store of the folder alone', async () => {
    const { shell, url, token } = await served()
    const terminal = elsewhere({ BELFRY_TOKEN: token })
    await terminal.belfry('queue set near --max-concurrent 2')
    const said = await terminal.belfry(['queue', 'set', 'far', '--max-concurrent', '2', '--server', url])
    expect(said).toMatchObject({ exit: 0, stderr: `server: ${url}\n` })
    const names = async (words: string[]) => (await terminal.json<{ name: string }[]>(words)).map(({ name }) => name)
    expect(await names(['queue', 'list'])).toEqual(['near'])
    expect(await names(['queue', 'list', '--server', url])).toEqual(['far'])
    // A flag goes before the environment.
    const store = `sqlite:${terminal.folder}/.belfry/belfry.db`
    const led = await terminal.belfry(['queue', 'list', '--store', store], { env: { BELFRY_SERVER: url } })
    expect(led.stdout).toContain('near')
    expect((await shell.belfry('queue list')).stdout).not.toContain('near')
  })

  it('stores a relative program as it is found where it was typed, and not where the server was started', async () => {
    const { url, token } = await served()
    const terminal = elsewhere({ BELFRY_TOKEN: token, BELFRY_SERVER: url })
    const program = terminal.write('here.sh', '#!/bin/sh\n')
    expect((await terminal.belfry('schedule create near --every 1h -- ./here.sh')).exit).toBe(0)
    expect(await terminal.json('schedule show near')).toMatchObject({ target: { command: [program] } })
    expect((await terminal.belfry('schedule create far --every 1h -- ./nowhere.sh')).exit).toBe(2)
  })

  it('is followed while a run puts something out, and left at once by Ctrl-C', async () => {
    const { shell, url } = await served()
    const line = 'for word in one two; do while [ ! -e "$word" ]; do sleep 0.02; done; echo "$word"; done'
    const { id } = await shell.json<{ id: string }>(['run', 'enqueue', '--cwd', shell.folder, '--command', line])
    // As processes of their own, in the folder whose token lets them in.
    const env = { BELFRY_SERVER: url }
    const plain = (words: string) => shell.start(words, { env })
    const [people, leaver] = [plain(`run output -f ${id}`), plain(`run output -f ${id}`)]
    shell.write('one', '')
    await Promise.all([people, leaver].map((each) => each.told(/one/)))
    leaver.ctrlC()
    expect(await leaver.ended).toEqual({ exit: 130, stdout: 'one\n', stderr: '' })
    shell.write('two', '')
    expect(await people.ended).toEqual({ exit: 0, stdout: 'one\ntwo\n', stderr: `${id} is completed\n` })
  })

  it('is told by its address where it does not answer', async () => {
    const { running, url, token } = await served()
    running.ctrlC()
    await running.ended
    const said = await elsewhere({ BELFRY_TOKEN: token, BELFRY_SERVER: url }).belfry('schedule list')
    expect(said).toMatchObject({ exit: 5, stdout: '' })
    expect(said.stderr).toContain(`The server at ${url} cannot be reached: ECONNREFUSED.`)
    expect(said.stderr).toContain('hint:')
  })
})
