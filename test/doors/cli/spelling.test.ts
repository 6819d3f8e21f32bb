import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { wholly } from '../../../src/doors/cli/parse/lazy-command.ts'
import { program } from '../../../src/doors/cli/parse/program.ts'
import { namingIn, spelled } from '../../../src/doors/cli/spelling/spelling.ts'
import type { Diagnosis } from '../../../src/operations/store/diagnosis.ts'
import { noteConfigFault } from '../../../src/parts/config/read-configs.ts'
import { openSession } from '../../../src/sessions.ts'
import { postgresUrl } from '../../postgres.ts'
import { Terminal } from './terminal.ts'

const nothing = async () => undefined
const actions = {
  write: () => undefined,
  operation: nothing,
  up: nothing,
  mcp: nothing,
  apply: nothing,
  trust: nothing,
}

/** The words of every command that there is, from the commands themselves. */
function commandsIn(command: Command, before: readonly string[]): string[] {
  if (command.commands.length === 0) return [before.join(' ')]
  return command.commands.flatMap((each) => commandsIn(each, [...before, each.name()]))
}

const commands = commandsIn(wholly(program('1.2.3', actions as never)), [])
const store = { store: 'sqlite:/srv/my store/b.db', namespace: 'tenant' }

describe('a suggested command', () => {
  it.each(commands)('belfry %s carries the npx, store, schema and namespace of the caller', (words) => {
    const flags = "--store 'sqlite:/srv/my store/b.db' --namespace tenant"
    expect(spelled(`Type \`belfry ${words} --yes\`.`, 'npx belfry', store)).toBe(
      `Type \`npx belfry ${flags} ${words} --yes\`.`,
    )
    const onServer = 'postgres://ada@db.example.org/x'
    expect(spelled(`belfry ${words}`, 'belfry', { store: onServer, schema: 'ops' })).toBe(
      `belfry --store ${onServer} --schema ops ${words}`,
    )
  })

  it.each(commands)('belfry %s carries the server where it can be asked of one', (words) => {
    const isOfStore = ['up', 'mcp', 'apply', 'trust', 'hook', 'install', 'uninstall'].includes(words)
    const naming = { server: 'http://127.0.0.1:4747', tokenFile: '/run/t' }
    const flags = isOfStore ? '' : '--server http://127.0.0.1:4747 --token-file /run/t '
    expect(spelled(`belfry ${words}`, 'belfry', naming)).toBe(`belfry ${flags}${words}`)
  })

  it.each([
    ['postgres://ada:s3cret@db/x', 'postgres://ada:PASSWORD@db/x'],
    ['postgres://ada:s3@cr/et@db/x', 'postgres://ada:PASSWORD@db/x'],
    [
      'postgresql://db/x?user=ada&password=s3cret&sslmode=require',
      'postgresql://db/x?user=ada&password=PASSWORD&sslmode=require',
    ],
    [
      'postgres://ada@db/x?Password=s3cret&sslpassword=s3cret',
      'postgres://ada@db/x?Password=PASSWORD&sslpassword=PASSWORD',
    ],
    ['postgres://ada:s3cret@db/x?password=s3cret#s3cret', 'postgres://ada:PASSWORD@db/x?password=PASSWORD'],
    ['host=db user=ada password=s3cret', 'STORE'],
    ['mysql://ada:s3cret@db/x', 'STORE'],
    ['sqlite:postgres://ada:s3cret@db/x', 'STORE'],
  ])('never echoes a password of the store: %s', (given, shown) => {
    const said = spelled('belfry doctor', 'belfry', { store: given })
    expect(said).not.toMatch(/s3|cr\/et/)
    expect(said.replaceAll("'", '')).toBe(`belfry --store ${shown} doctor`)
  })

  it('never echoes a password or a token in the address of a server', () => {
    for (const server of ['http://ada:s3cret@h:1/base', 'http://h:1/base?token=s3cret#s3cret', 'ada:s3cret@h']) {
      expect(spelled('belfry doctor', 'belfry', { server })).not.toContain('s3cret')
    }
  })

  it('is left alone inside quotes, in paths and as part of other words', () => {
    for (const text of [
      '"belfry run"',
      './belfry run',
      'my-belfry run',
      "'belfry run'",
      'belfry runs late',
      'belfry.db',
    ]) {
      expect(spelled(text, 'belfry', store)).toBe(text)
    }
  })
})

describe('the command line itself', () => {
  const terminal = new Terminal()

  it.each([
    ['token revoke', 'token revoke nobody'],
    ['routine', 'routine show nobody'],
    ['config', 'frobnicate'],
    ['sched', 'sched reset --ids r-3zzz'],
  ])('suggests commands for its own store after %s, as text and as JSON', async (_, command) => {
    await terminal.belfry('queue set default --max-concurrent 2 --store sqlite:other.db')
    for (const json of ['', ' --json']) {
      const { stderr } = await terminal.belfry(`${command} --store sqlite:other.db${json}`)
      for (const [said] of stderr.matchAll(/belfry (?!--)[a-z]+ ?[a-z]*/g)) expect.unreachable(`${said} in ${stderr}`)
    }
  })

  it('shows examples in its help for the store that was named', async () => {
    const { stdout } = await terminal.belfry('token create --help --store sqlite:other.db')
    expect(stdout).toContain('belfry --store sqlite:other.db token create')
  })

  it('echoes no password of a store that cannot be opened', async () => {
    const url = new URL(postgresUrl())
    url.password = 's3cret'
    url.port = '1'
    for (const command of ['doctor', 'sched plan', 'token list', 'up', 'doctor --json']) {
      const { stdout, stderr } = await terminal.belfry(`${command} --store ${url.href}`)
      expect(stdout + stderr).not.toContain('s3cret')
    }
  })

  it('suggests them in answers as JSON too, as it was started itself and for the store that was named', async () => {
    const named = '--store sqlite:other.db'
    const own = `node dist/belfry.js ${named}`
    const typing = { script: join(terminal.folder, 'dist/belfry.js'), env: { PATH: '' } }
    const { id } = await terminal.json<{ id: string }>(`run enqueue --target null ${named}`)
    await terminal.belfry(`schedule create s --every 1h --handler h ${named}`)
    await terminal.belfry(`schedule pause s ${named}`)
    const unblocks = async (line: string) => {
      const { unblock } = await terminal.json<{ unblock: { what: string; command: string }[] }>(line, typing)
      return unblock
    }
    expect((await unblocks(`explain schedule s ${named}`)).map(({ command }) => command)).toContain(
      `${own} schedule resume s`,
    )
    expect((await unblocks(`explain run ${id} ${named}`)).map(({ what }) => what)).toContain(
      `Give it a target, or lease it as an outside host: \`${own} sched lease\`.`,
    )
    const { checks } = await doctored(`doctor ${named} --json`, typing)
    const advice = checks.flatMap(({ findings }) => findings.map(({ next }) => next ?? ''))
    expect(advice.join()).toContain(`${own} up`)
    expect(advice.join()).not.toMatch(/(?<!js )belfry (?!--)[a-z]/)
    const text = await terminal.belfry(`explain run ${id} ${named}`, typing)
    expect(text.stdout).toContain(`\`${own} sched lease\``)
  })

  it('suggests them in refusals and in what a file brought about, too', async () => {
    const named = '--store sqlite:other.db'
    const { stderr } = await terminal.belfry(`schedule create x --every 1h --concurrency 3 --handler h ${named}`)
    expect(stderr).toContain(`--max-concurrent of \`belfry ${named} queue set\``)
    const json = await terminal.belfry(`schedule create x --every 1h --concurrency 3 --handler h --json ${named}`)
    const [problem] = JSON.parse(json.stderr).error.details.problems
    expect(problem.expected).toContain(`\`belfry ${named} queue set\``)
    const file = terminal.write('tokens.yaml', 'source: ops\ntokens: { ci: { scope: read } }\n')
    const wanted = `belfry ${named} token create ci`
    const { notes } = await terminal.json<{ notes: string[] }>(`apply ${file} ${named}`)
    expect(notes.join()).toContain(wanted)
    expect((await terminal.belfry(`apply ${file} --dry-run ${named}`)).stdout).toContain(wanted)
  })

  it('suggests them where a fault of a file was stored, by doctor and by config list, as text and as JSON', async () => {
    const named = '--store sqlite:faulty.db'
    const own = `node dist/belfry.js ${named}`
    const typing = { script: join(terminal.folder, 'dist/belfry.js'), env: { PATH: '' } }
    await terminal.belfry(`queue set default --max-concurrent 2 ${named}`)
    const opened = await openSession(
      { store: `sqlite:${terminal.folder}/faulty.db` },
      { env: {}, folder: terminal.folder },
    )
    await opened.context.store.do(noteConfigFault, 'h:/f', 'It is not trusted. Read it, then run: `belfry trust`')
    await opened.close()
    for (const line of ['doctor', 'config list', 'doctor --json', 'config list --json']) {
      const { stdout } = await terminal.belfry(`${line} ${named}`, typing)
      expect(stdout, line).toContain(`\`${own} trust\``)
    }
  })

  it('says how it is used in the words that started it, also where no command was named', async () => {
    const typing = { script: join(terminal.folder, 'dist/belfry.js'), env: { PATH: '' } }
    for (const line of ['', '--help', 'help']) {
      expect((await terminal.belfry(line, typing)).stdout, line).toMatch(/^Usage: node dist\/belfry\.js COMMAND …/)
    }
    const npx = { env: { npm_command: 'exec' } }
    expect((await terminal.belfry('', npx)).stdout).toMatch(/^Usage: npx belfry COMMAND …/)
    expect((await terminal.belfry('schedule', npx)).stdout).toMatch(/^Usage: npx belfry schedule COMMAND …/)
  })

  async function doctored(line: string, typing: object): Promise<Diagnosis> {
    const { stdout } = await terminal.belfry(line, typing)
    return JSON.parse(stdout) as Diagnosis
  }

  it('finds what was named in both forms of a flag', () => {
    expect(namingIn(['doctor', '--store=a', '--server', 'b', '--schema'])).toEqual({ store: 'a', server: 'b' })
  })
})

it('no file of the command line has a list of nouns by which commands are found', () => {
  const folder = new URL('../../../src/doors/cli/', import.meta.url)
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )) {
    expect(readFileSync(new URL(file, folder), 'utf8'), file).not.toMatch(/schedule\|run\|queue/)
  }
})
