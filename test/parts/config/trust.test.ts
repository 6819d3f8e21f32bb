import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/kinds.ts'
import type { ConfigFile } from '../../../src/parts/config/config-file.ts'
import { readConfigFile } from '../../../src/parts/config/config-file.ts'
import { programsOf } from '../../../src/parts/config/programs.ts'
import { refuseUntrusted, Trust } from '../../../src/parts/config/trusted-files.ts'
import { treeOf } from '../../../src/trust/tree.ts'

const known = { kinds, sections: [] }
const programsIn = (document: ConfigFile['document']) => programsOf(document, known).programs

let folder: string
let trust: Trust
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-trust-'))
  trust = new Trust({ XDG_STATE_HOME: join(folder, 'state') }, known)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const backup = 'source: ops\nschedules: { a: { every: 1h, target: { command: [./backup.sh] } } }\n'

/** A file in a folder of this name, which may be a checked-out tree. */
async function file(text: string, { tree = 'work', mark = '.git' }: { tree?: string; mark?: string | null } = {}) {
  const inner = join(folder, tree, 'deep')
  mkdirSync(inner, { recursive: true })
  if (mark !== null) mkdirSync(join(folder, tree, mark), { recursive: true })
  writeFileSync(join(inner, 'belfry.yaml'), text)
  return readConfigFile(join(inner, 'belfry.yaml'))
}

describe('a file that would start programs', () => {
  it.each(['.git', '.hg', '.svn', '.jj'])(
    'is refused in a tree with %s until somebody vouches for it',
    async (mark) => {
      const read = await file(backup, { mark })
      expect(treeOf(read.path)).toBe(join(folder, 'work'))
      expect(() => refuseUntrusted(read, trust)).toThrow(
        /would start programs, use secrets or open doors \(schedules\.a\.target\)/,
      )
      trust.give(read)
      expect(() => refuseUntrusted(read, trust)).not.toThrow()
    },
  )

  const backupBy = (target: string, more = '') =>
    `source: ops\nschedules: { a: { every: 1h, target: ${target}${more} } }\n`

  it.each([
    ['its command', backupBy('{ command: [./other.sh] }')],
    ['the folder of the command', backupBy('{ command: [./backup.sh], cwd: /srv }')],
    ['the environment of the command', backupBy('{ command: [./backup.sh], env: { LD_PRELOAD: ./x.so } }')],
    ['a secret of the command', backupBy('{ command: [./backup.sh], env: { KEY: { secret: KEY } } }')],
    ['what the command reads', backupBy('{ command: [./backup.sh] }', ', payload: "$(id)"')],
    ['a guard', backupBy('{ command: [./backup.sh] }', ', when: { command: [./ready.sh] }')],
    ['a second command', backupBy('{ command: [./backup.sh] }, onFailure: { command: [./tell.sh] }')],
  ])('needs trust again once %s is another', async (_, text) => {
    trust.give(await file(backup))
    const edited = await file(text)
    expect(() => refuseUntrusted(edited, trust)).toThrow('would start programs')
  })

  it('is refused by the name of what is new or changed since it was last trusted, and not of what is as it was', async () => {
    const three = (b: string, more = '') =>
      `source: ops\nschedules: { a: { every: 1h, target: { command: [./a.sh] } }, b: { every: 1h, target: { command: [${b}] } }${more} }\n`
    trust.give(await file(three('./b.sh')))
    const changed = await file(three('./other.sh'))
    expect(() => refuseUntrusted(changed, trust)).toThrow('open doors (schedules.b.target)')
    const added = await file(three('./other.sh', ', c: { every: 1h, target: { command: [./c.sh] } }'))
    expect(() => refuseUntrusted(added, trust)).toThrow('open doors (schedules.b.target and 1 more)')
    trust.give(changed)
    expect(() => refuseUntrusted(added, trust)).toThrow('open doors (schedules.c.target)')
    const less = await file(backup.replace('./backup.sh', './a.sh'))
    expect(() => refuseUntrusted(less, trust)).toThrow('open doors (schedules.a.target)')
  })

  it.each([
    ['its timing', backup.replace('every: 1h', 'every: 5s')],
    ['its name', backup.replace('a: {', 'b: {')],
    ['a comment', `${backup}# more\n`],
    ['a queue', `${backup}queues: { mail: { maxConcurrent: 2 } }\n`],
    ['a schedule without a program', backup.replace('schedules: {', 'schedules: { h: { target: { handler: x } },')],
  ])('needs no new trust because %s is another', async (_, text) => {
    trust.give(await file(backup))
    const edited = await file(text)
    expect(() => refuseUntrusted(edited, trust)).not.toThrow()
  })

  it('stays trusted for the last 20 contents that were, and no longer', async () => {
    const contents = Array.from({ length: 21 }, (_, at) => backup.replace('./backup.sh', `./backup.sh, "${at}"`))
    for (const text of contents) trust.give(await file(text))
    trust.give(await file(backup, { tree: 'other' }))
    const held: boolean[] = []
    for (const text of contents) held.push(trust.has(await file(text)))
    expect(held).toEqual([false, ...Array.from({ length: 20 }, () => true)])
  })

  it('is not trusted elsewhere, where its relative programs are others', async () => {
    trust.give(await file(backup))
    const elsewhere = await file(backup, { tree: 'other' })
    expect(() => refuseUntrusted(elsewhere, trust)).toThrow()
  })

  it('needs none outside of trees, and one without programs needs none anywhere', async () => {
    const outside = await file(backup, { tree: 'plain', mark: null })
    expect(() => refuseUntrusted(outside, trust)).not.toThrow()
    const harmless = await file('source: ops\nschedules: { a: { every: 1h, target: { handler: x } } }\n')
    expect(() => refuseUntrusted(harmless, trust)).not.toThrow()
  })

  it.each(['', '.', 'home'])('cannot be vouched for from where we are, though HOME is %j', (home) => {
    expect(new Trust({ HOME: home, XDG_STATE_HOME: home }, known).place).toBe(
      join(userInfo().homedir, '.local', 'state', 'belfry', 'trusted'),
    )
  })

  it('cannot vouch for another by the name of its folder', async () => {
    const victim = await file(backup)
    const path = `/a\n${programsOf(victim.document, known).hash} ${victim.path}`
    expect(() => trust.give({ path, document: victim.document })).toThrow('has a line break in its name')
    expect(trust.has(victim)).toBe(false)
  })

  it('lies in the tree that links lead to', async () => {
    await file(backup)
    symlinkSync(join(folder, 'work', 'deep'), join(folder, 'current'))
    symlinkSync(join(folder, 'work', 'deep', 'belfry.yaml'), join(folder, 'linked.yaml'))
    for (const path of [join(folder, 'current', 'belfry.yaml'), join(folder, 'linked.yaml')]) {
      const read = await readConfigFile(path)
      expect(() => refuseUntrusted(read, trust)).toThrow(`is in the checked-out tree ${join(folder, 'work')}`)
    }
  })

  it('is remembered where only its owner can write', async () => {
    trust.give(await file(backup))
    expect(statSync(trust.place).mode & 0o777).toBe(0o600)
    expect(trust.place).toBe(join(folder, 'state', 'belfry', 'trusted'))
  })
})

describe('programs', () => {
  it('are found wherever a target can stand', () => {
    const document = {
      schedules: { a: { target: { command: ['x'] }, onFailure: { command: 'tell' } }, b: { target: { agent: {} } } },
      queues: { mail: { onPark: { command: ['y'] } } },
    }
    expect(programsIn(document)).toEqual([
      { where: 'schedules.a.target', what: '["x"]', with: {} },
      { where: 'schedules.a.onFailure', what: 'tell', with: {} },
      { where: 'schedules.b.target', what: '{}', with: {} },
      { where: 'queues.mail.onPark', what: '["y"]', with: {} },
    ])
  })

  it('are not what is only called so', () => {
    const document = { schedules: { command: { every: '1h', payload: { command: 'x' } }, env: { payload: {} } } }
    expect(programsIn(document)).toEqual([])
  })

  it('are found in a schedule that is called like a part of a target', () => {
    expect(programsIn({ schedules: { payload: { target: { command: 'x' } } } })).toHaveLength(1)
  })

  it('go with secrets of this machine that the file would send somewhere', () => {
    const http = { url: 'https://example.org', headers: { 'x-key': { secret: 'KEY' } }, body: [{ a: { secret: 'B' } }] }
    const { url: _, ...rest } = http
    expect(programsIn({ schedules: { http: { target: { http } } } })).toEqual([
      { where: 'schedules.http.target', what: 'sends the secret KEY to https://example.org', with: rest },
      { where: 'schedules.http.target', what: 'sends the secret B to https://example.org', with: rest },
    ])
    expect(
      programsIn({ schedules: { a: { target: { http: { url: http.url, body: { secret: 1, more: 2 } } } } } }),
    ).toEqual([])
  })

  it('go with tokens that could start them', () => {
    const tokens = { a: 'admin', b: { scope: 'admin' }, c: 'operate', command: null }
    expect(programsIn({ tokens })).toEqual([
      { where: 'tokens.a', what: 'has the scope admin', with: {} },
      { where: 'tokens.b', what: 'has the scope admin', with: {} },
    ])
  })

  it('go with a door that the file would open beyond this machine', () => {
    for (const server of [{ behindProxy: true }, { listen: '0.0.0.0:1' }, { listen: '[::]:1' }, { listen: 'me:1' }]) {
      expect(programsIn({ server })).toEqual([
        { where: 'server', what: 'listens on an address that other machines can reach', with: server },
      ])
    }
    for (const listen of ['127.0.0.1:1', 'LOCALHOST:1', '[::1]:1', '4747', 'none']) {
      expect(programsIn({ server: { listen, behindProxy: false, hosts: ['a'] } })).toEqual([])
    }
  })
})
