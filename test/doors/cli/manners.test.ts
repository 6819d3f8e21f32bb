import { existsSync, readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Terminal } from './terminal.ts'

let terminal: Terminal

beforeEach(() => {
  terminal = new Terminal()
})

afterEach(() => terminal.remove())

const exists = async (name: string) => (await terminal.belfry(`schedule show ${name}`)).exit === 0
const esc = '\u001b'

describe('a schedule is deleted', () => {
  beforeEach(async () => {
    await terminal.belfry('schedule create a --every 1h --handler h')
  })

  it.each(['y', 'Y', 'yes', ' YES '])('by whoever is asked and answers %j', async (answer) => {
    const { exit, stdout, stderr } = await terminal.belfry('schedule delete a', { isTTY: true, typed: `${answer}\n` })
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining('deleted a') })
    expect(stderr).toContain('Delete schedule a? [y/N] ')
    expect(await exists('a')).toBe(false)
  })

  it.each(['n\n', '\n', 'yesterday\n', ''])('by nobody who is asked and answers %j', async (typed) => {
    const { exit, stdout, stderr } = await terminal.belfry('schedule delete a', { isTTY: true, typed })
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' })
    expect(stderr).toMatch(/Delete schedule a\? \[y\/N\] [\s\S]*Nothing was changed\.\n$/)
    expect(await exists('a')).toBe(true)
  })

  it('by a program only with --yes, and not by what happens to be piped in', async () => {
    const refused = await terminal.belfry('schedule delete a', { stdin: 'y\n' })
    expect({ exit: refused.exit, stdout: refused.stdout }).toEqual({ exit: 2, stdout: '' })
    expect(refused.stderr).toContain('--yes')
    expect(await exists('a')).toBe(true)
    expect((await terminal.belfry('schedule delete a --yes')).exit).toBe(0)
    expect(await exists('a')).toBe(false)
  })

  it('after a question that shows what a name does to a terminal, and does not do it', async () => {
    const name = `b${esc}]0;x\u0007`
    const { stderr } = await terminal.belfry(['schedule', 'delete', name], { isTTY: true, typed: 'n\n' })
    expect(stderr).toContain('Delete schedule b\\u001b]0;x\\u0007?')
    expect(stderr).not.toContain('\u0007')
  })
})

const rehearsals = [
  'schedule create new --every 1h --handler h',
  'schedule put old --every 2h --handler h',
  'schedule put new --every 2h --handler h',
  'schedule update old --priority 4',
  'schedule delete old',
  'queue set old --max-concurrent 9',
  'queue set new --max-concurrent 9',
  'run enqueue --queue new --command true --idempotency-key k',
]

describe('a rehearsal', () => {
  it.each(['schedule create', 'schedule put'])(
    'of %s where no store is makes none, and says where it would be',
    async (words) => {
      const { exit, stdout, stderr } = await terminal.belfry(`${words} a --every 1h --handler h --dry-run`)
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
      expect(stdout).toContain(`${terminal.folder}/.belfry/belfry.db`)
      expect(readdirSync(terminal.folder)).toEqual([])
    },
  )

  it.each(['queue set a --max-concurrent 2', 'run enqueue --command true'])(
    'of %s where no store is makes none',
    async (words) => {
      expect((await terminal.belfry(`${words} --dry-run --json`)).exit).toBe(0)
      expect(existsSync(`${terminal.folder}/.belfry`)).toBe(false)
    },
  )

  it.each(rehearsals)('of %s answers as the deed would, and says that it is none', async (words) => {
    await terminal.belfry('schedule create old --every 1h --handler h')
    await terminal.belfry('queue set old --max-concurrent 2')
    const told = await terminal.belfry(`${words} --dry-run`)
    expect(told).toMatchObject({ exit: 0, stdout: expect.stringMatching(/would|rehears/i), stderr: '' })
    const rehearsed = await terminal.json<{ answer?: string; changed?: string[] }>(`${words} --dry-run`)
    const done = await terminal.json<{ answer?: string; changed?: string[] }>(
      `${words}${words.includes('delete') ? ' --yes' : ''}`,
    )
    expect({ answer: rehearsed.answer, changed: rehearsed.changed }).toEqual({
      answer: done.answer,
      changed: done.changed,
    })
  })
})

const places = { sqlite: 'sqlite:elsewhere/b.db', password: 'postgres://user:top-secret@127.0.0.1:1/none' }

describe('where no worker runs', () => {
  const note = /note: no worker runs on this store, so nothing starts\. Start one with: belfry up\n/

  it('every write and every look for people says so, and how to start one; data stays alone on stdout', async () => {
    const write = await terminal.belfry('schedule create a --every 1h --handler h --json')
    expect(write.stderr).toMatch(note)
    expect(write.stderr).toContain(`store: ${terminal.folder}/.belfry/belfry.db\n`)
    expect(() => JSON.parse(write.stdout)).not.toThrow()
    const told = await terminal.belfry('schedule pause a')
    expect(told.stderr).toMatch(note)
    expect(told.stdout + told.stderr).toContain(`${terminal.folder}/.belfry/belfry.db`)
    for (const look of ['schedule list', 'schedule show a', 'schedule next a', 'queue list', 'run list']) {
      expect((await terminal.belfry(look)).stderr).toMatch(note)
      expect((await terminal.belfry(`${look} --json`)).stderr).toBe('')
    }
  })

  it('names the store that was named, or another would be started', async () => {
    const { stderr } = await terminal.belfry(`queue set a --max-concurrent 2 --store ${places.sqlite} --namespace n`)
    expect(stderr).toContain(`belfry --store ${places.sqlite} --namespace n up\n`)
  })

  it('says so before it waits, not after', async () => {
    const { id } = await terminal.json<{ id: string }>('run enqueue --command true')
    const waited = await terminal.belfry(`run wait ${id} --timeout 20ms`)
    expect(waited.exit).toBe(5)
    expect(waited.stderr).toMatch(/^note: no worker runs[\s\S]*error: /)
  })

  it('does not say so beside a worker that is alive', async () => {
    const { Belfry } = await import('../../../src/index.ts')
    const belfry = await Belfry.open({ store: `sqlite:${terminal.folder}/.belfry/belfry.db`, log: false })
    await belfry.start()
    const told = await terminal.belfry('schedule create a --every 1h --handler h')
    const listed = await terminal.belfry('schedule list')
    await belfry.close()
    expect([told.stderr, listed.stderr].join('')).not.toContain('no worker')
    expect((await terminal.belfry('schedule list')).stderr).toContain('no worker')
  })

  it('never shows a password', async () => {
    const { stdout, stderr } = await terminal.belfry(`queue list --store ${places.password}`)
    expect(stdout + stderr).not.toContain('top-secret')
  })
})

describe('colours', () => {
  beforeEach(async () => {
    await terminal.belfry('schedule create a --every 1h --handler h')
  })

  const list = async (typing: Parameters<Terminal['belfry']>[1]) => {
    const { stdout, stderr } = await terminal.belfry('schedule list', typing)
    return (stdout + stderr).includes(esc)
  }

  it('are for terminals, unless somebody refused or forced them', async () => {
    expect(await list({ isTTY: false })).toBe(false)
    expect(await list({ isTTY: true })).toBe(true)
    expect(await list({ isTTY: true, env: { NO_COLOR: '1' } })).toBe(false)
    expect(await list({ isTTY: true, env: { NO_COLOR: '1', FORCE_COLOR: '1' } })).toBe(false)
    expect(await list({ isTTY: true, env: { TERM: 'dumb' } })).toBe(false)
    expect(await list({ isTTY: false, env: { FORCE_COLOR: '1' } })).toBe(true)
  })

  it('never stand in what programs read', async () => {
    const { stdout } = await terminal.belfry('schedule list --json', { isTTY: true, env: { FORCE_COLOR: '1' } })
    expect(stdout).not.toContain(esc)
  })
})

describe('what others wrote', () => {
  const nasty = `n${esc}[8m${esc}[2J${esc}]0;owned\u0007\r\u009b31m\u202ename`

  it('does nothing to the terminal of whoever reads it, whatever command shows it', async () => {
    const create = [
      'schedule',
      'create',
      nasty,
      '--every',
      '1h',
      '--description',
      nasty,
      '--tags',
      nasty,
      '--command',
      nasty,
    ]
    const all = [await terminal.belfry(create)]
    for (const words of ['show', 'pause', 'next', 'history', 'versions', 'hints', 'run', 'resume']) {
      all.push(await terminal.belfry(['schedule', words, nasty, ...(words === 'pause' ? ['--reason', nasty] : [])]))
    }
    all.push(await terminal.belfry(['explain', 'schedule', nasty]))
    all.push(await terminal.belfry(['queue', 'set', nasty, '--max-concurrent', '1']))
    all.push(await terminal.belfry(['queue', 'pause', nasty, '--reason', nasty]))
    for (const words of ['schedule list', 'queue list', 'run list', 'doctor']) all.push(await terminal.belfry(words))
    all.push(await terminal.belfry(['schedule', 'show', `${nasty}2`]))
    expect(all.map(({ exit }) => exit).filter((exit) => exit > 3)).toEqual([])
    const text = all.map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(text).toContain('owned')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(text.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)).toBeNull()
  })
})
