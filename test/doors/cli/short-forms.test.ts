import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { namingIn, spelled } from '../../../src/doors/cli/spelling/spelling.ts'
import { scheduleOperations } from '../../../src/operations/schedule/noun.ts'
import { shown } from './shown.ts'
import { Terminal } from './terminal.ts'

let terminal: Terminal

beforeEach(() => {
  terminal = new Terminal()
})

afterEach(() => terminal.remove())

describe('short forms', () => {
  it('explain what their form shows: a run by its id, anything else as a schedule', async () => {
    await terminal.belfry('schedule create hello --every 1h --command true')
    const { id } = await terminal.json<{ id: string }>('schedule run hello')
    // How far away its next instant is may be another second by the second command.
    const standing = async (line: string) => (await terminal.belfry(line)).stdout.split('  ').slice(0, 2)
    expect(await standing('explain hello')).toEqual(['hello', 'due-later'])
    expect(await standing('explain schedule hello')).toEqual(['hello', 'due-later'])
    expect((await terminal.belfry(`explain ${id}`)).stdout).toMatch(new RegExp(`^${id} `))
    expect((await terminal.belfry('explain')).stdout).toContain('Usage: belfry explain')
    expect(await standing('--store sqlite:.belfry/belfry.db explain hello')).toEqual(['hello', 'due-later'])
  })

  it('tell help and the version by words too', async () => {
    expect((await terminal.belfry('help schedule create')).stdout).toContain('--every <duration>')
    expect((await terminal.belfry('version')).stdout).toBe('1.2.3\n')
  })

  it('let an instant be said by how far away it is', async () => {
    const before = Date.now()
    const { schedule } = await terminal.json<{ schedule: { at: string } }>(
      'schedule create once --in 90s --command true',
    )
    expect(Date.parse(schedule.at)).toBeGreaterThanOrEqual(before + 90_000)
    expect(Date.parse(schedule.at)).toBeLessThanOrEqual(Date.now() + 90_000)
  })
})

describe('a flag of ours behind --', () => {
  it("is the program's, and whoever typed it hears so", async () => {
    const said = await terminal.belfry('schedule create a --every 1h -- rsync --dry-run')
    expect(said.exit).toBe(0)
    expect(said.stderr).toContain('note: --dry-run comes after --, so the program gets it.')
  })

  it('is not spoken of where it was meant for both', async () => {
    const said = await terminal.belfry('schedule create a --every 1h --dry-run -- rsync --dry-run')
    expect(said.stderr).not.toContain('stands behind --')
  })
})

it('work that is meant for outside hosts can be made, by saying so', async () => {
  const { exit, stdout } = await terminal.belfry('schedule create a --every 1h --target null')
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining('outside hosts lease its runs') })
})

it('environments and headers may have any name, also those that every object knows', async () => {
  await terminal.belfry('schedule create a --every 1h --env constructor=1 --env __proto__=2 --command true')
  const { target } = await terminal.json<{ target: { env: object } }>('schedule show a')
  expect(Object.entries(target.env)).toEqual([
    ['constructor', '1'],
    ['__proto__', '2'],
  ])
})

describe('commands in texts for people', () => {
  const text = 'Resume it: belfry schedule resume a; see /opt/belfry up'

  it('are spelled as npm finds them, and go to the store that was named', () => {
    expect(spelled(text, 'belfry')).toBe(text)
    expect(spelled(text, 'npx belfry')).toBe(text.replace(': belfry', ': npx belfry'))
    const naming = { store: 'postgres://u:secret@h/d', namespace: 'a b' }
    expect(spelled(text, 'belfry', naming)).toBe(
      text.replace(': belfry', ": belfry --store postgres://u:PASSWORD@h/d --namespace 'a b'"),
    )
  })

  it('are spelled so also where the rest of a command line could not be read', () => {
    expect(namingIn(['ls', '--store', 'sqlite:x', '--schema=s'])).toEqual({ store: 'sqlite:x', schema: 's' })
    expect(namingIn(['ls', '--store'])).toEqual({})
  })
})

it('a field that every object seems to have is refused like any other that is unknown', async () => {
  terminal.write('odd.json', '{"name":"p","every":"1h","__proto__":{"a":1},"constructor":1,"target":{"handler":"h"}}')
  const { exit, stderr } = await terminal.belfry('schedule put --file odd.json')
  expect(exit).toBe(2)
  expect(stderr).toMatch(/__proto__ +is not a field of a schedule/)
  expect(stderr).toMatch(/constructor +is not a field of a schedule/)
})

describe('what is suggested', () => {
  const name = "x; touch PWNED 'now' #"

  it('can be pasted whatever a schedule is called: no name becomes a command', async () => {
    await terminal.belfry(['schedule', 'create', name, '--every', '1h', '--command', 'true'])
    const pasted = `'x; touch PWNED '\\''now'\\'' #'`
    const paused = await terminal.belfry(['schedule', 'pause', name])
    expect(paused.stdout).toContain(`belfry schedule resume ${pasted}`)
    const shown = await terminal.belfry(['schedule', 'show', name])
    expect(shown.stdout).toContain(`belfry explain schedule ${pasted}`)
    const explained = await terminal.belfry(['explain', 'schedule', name])
    expect(explained.stdout).toContain(`belfry schedule resume ${pasted}`)
  })

  it('is spelled for npm, and what others wrote is left as it is', async () => {
    const env = { npm_command: 'exec' }
    const words = ['schedule', 'create', 'belfry up', '--every', '1h', '--', 'belfry', 'run', 'enqueue']
    const made = await terminal.belfry(words, { env })
    expect(made.stdout).toContain('created belfry up in')
    expect(made.stdout).toContain('Runs belfry run enqueue.')
    expect(made.stderr).toContain('Start one with: npx belfry up')
    const paused = await terminal.belfry(['schedule', 'pause', 'belfry up'], { env })
    expect(paused.stdout).toContain("npx belfry schedule resume 'belfry up'")
    const absent = await terminal.belfry(['schedule', 'show', 'belfry run x', '--json'], { env })
    expect(JSON.parse(absent.stderr).error.details.schedule).toBe('belfry run x')
  })

  it('goes to the namespace that was named', async () => {
    await terminal.belfry('schedule create a --every 1h --handler h --namespace prod')
    const paused = await terminal.belfry('schedule pause a --namespace prod')
    expect(paused.stdout).toContain('belfry --namespace prod schedule resume a')
    const explained = await terminal.belfry('explain schedule a --namespace prod')
    expect(explained.stdout).toContain('belfry --namespace prod schedule resume a')
  })
})

it('bytes that are no text are refused, and not replaced', async () => {
  writeFileSync(join(terminal.folder, 'image.bin'), Buffer.from([0xff, 0xfe, 0x00]))
  const { exit, stderr } = await terminal.belfry('schedule create a --every 1h --handler h --payload @image.bin')
  expect(exit).toBe(2)
  expect(stderr).toContain('not UTF-8')
})

it('a name that begins with a dash is refused: nobody could name it at a command line', async () => {
  terminal.write('dash.json', '{"name":"-dash","every":"1h","target":{"handler":"h"}}')
  const { exit, stderr } = await terminal.belfry('schedule put --file dash.json')
  expect(exit).toBe(2)
  expect(stderr).toContain('that does not begin with a dash')
})

it('the interval of a schedule that fails is listed with what it has become', async () => {
  const schedule = { name: 'a', everyMs: 60_000, failureCount: 3, deletedAt: null, disabled: null, paused: null }
  const listed = await shown(scheduleOperations.list, [{ ...schedule, nextDueAt: 1, waitsFor: null }])
  expect(listed).toContain('every 1m (8m after failures)')
  expect(listed).toContain('3 failures in a row')
})

it('what is only an estimate is said once, where it begins', async () => {
  const { stdout } = await terminal.belfry('schedule create a --every 1h --handler h')
  expect(stdout.match(/as if runs took no time/g)).toHaveLength(1)
})

it('a file about another schedule than the one that is named is refused', async () => {
  terminal.write('s.json', '{"name":"b","every":"1h","target":{"handler":"h"}}')
  const { exit, stderr } = await terminal.belfry('schedule put a --file s.json')
  expect(exit).toBe(2)
  expect(stderr).toContain('has "b" for name, and "a" was typed')
  expect((await terminal.belfry('schedule put b --file s.json')).exit).toBe(0)
})
