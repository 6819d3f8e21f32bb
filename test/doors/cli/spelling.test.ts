import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { wholly } from '../../../src/doors/cli/finished.ts'
import { program } from '../../../src/doors/cli/program.ts'
import { namingIn, spelled } from '../../../src/doors/cli/spelling.ts'
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
    const env = { npm_command: 'exec' }
    const flags = "--store 'sqlite:/srv/my store/b.db' --namespace tenant"
    expect(spelled(`Type \`belfry ${words} --yes\`.`, env, store)).toBe(`Type \`npx belfry ${flags} ${words} --yes\`.`)
    const onServer = 'postgres://ada@db.example.org/x'
    expect(spelled(`belfry ${words}`, {}, { store: onServer, schema: 'ops' })).toBe(
      `belfry --store ${onServer} --schema ops ${words}`,
    )
  })

  it.each(commands)('belfry %s carries the server where it can be asked of one', (words) => {
    const isOfStore = ['up', 'mcp', 'apply', 'trust'].includes(words)
    const naming = { server: 'http://127.0.0.1:4747', tokenFile: '/run/t' }
    const flags = isOfStore ? '' : '--server http://127.0.0.1:4747 --token-file /run/t '
    expect(spelled(`belfry ${words}`, {}, naming)).toBe(`belfry ${flags}${words}`)
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
    const said = spelled('belfry doctor', {}, { store: given })
    expect(said).not.toMatch(/s3|cr\/et/)
    expect(said.replaceAll("'", '')).toBe(`belfry --store ${shown} doctor`)
  })

  it('never echoes a password or a token in the address of a server', () => {
    for (const server of ['http://ada:s3cret@h:1/base', 'http://h:1/base?token=s3cret#s3cret', 'ada:s3cret@h']) {
      expect(spelled('belfry doctor', {}, { server })).not.toContain('s3cret')
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
      expect(spelled(text, {}, store)).toBe(text)
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

  it('finds what was named in both forms of a flag', () => {
    expect(namingIn(['doctor', '--store=a', '--server', 'b', '--schema'])).toEqual({ store: 'a', server: 'b' })
  })
})

it('no file of the command line has a list of nouns by which commands are found', () => {
  const folder = new URL('../../../src/doors/cli/', import.meta.url)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts'))) {
    expect(readFileSync(new URL(file, folder), 'utf8'), file).not.toMatch(/schedule\|run\|queue/)
  }
})
