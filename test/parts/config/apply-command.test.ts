import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Terminal } from '../../doors/cli/terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = new Terminal()
  for (const program of ['backup.sh', 'other.sh']) chmodSync(terminal.write(program, '#!/bin/sh\n'), 0o755)
})
afterEach(() => terminal.remove())

const env = () => ({ XDG_STATE_HOME: join(terminal.folder, 'state') })
const belfry = (command: string) => terminal.belfry(command, { env: env() })
const file = (text: string) => terminal.write('belfry.yaml', text)
const names = async () => (await terminal.json<{ name: string }[]>('schedule list')).map(({ name }) => name)

const two = `source: ops
queues:
  mail: { maxConcurrent: 2 }
schedules:
  report: { cron: '0 9 * * *', zone: UTC, queue: mail, target: { handler: report } }
  ping: { every: 1h, target: { handler: ping } }
tokens:
  ci: operate
`

describe('belfry apply', () => {
  it('makes the store, all that the file names, and says what', async () => {
    file(two)
    const { exit, stdout } = await belfry('apply')
    expect(exit).toBe(0)
    expect(stdout).toContain('applied')
    expect(stdout).toContain('+ queue mail (created)')
    expect(stdout).toContain('+ schedule report (created)')
    expect(stdout).toContain('Token ci does not exist yet: belfry token create ci')
    expect(await names()).toEqual(['ping', 'report'])
  })

  it('refuses an address that `up` could not listen at, also in a rehearsal', async () => {
    file(`${two}server: { listen: foo }\n`)
    for (const command of ['apply', 'apply --dry-run']) {
      const { exit, stderr } = await belfry(command)
      expect(exit).toBe(2)
      expect(stderr).toContain('server.listen')
    }
  })

  it('refuses a program that is not beside the file, together with what else is wrong', async () => {
    file(`source: ops
schedules:
  q: { every: 5m, target: { command: [./nope.sh] } }
  r: { cron: often, target: { handler: h } }
`)
    const { exit, stderr } = await belfry('apply --dry-run')
    expect(exit).toBe(2)
    expect(stderr).toContain('schedules.q.target.command[0]  names "./nope.sh", which does not exist')
    expect(stderr).toContain('schedules.r.cron')
  })

  it('shows each change of what is there', async () => {
    file(two)
    await belfry('apply')
    file(two.replace('maxConcurrent: 2', 'maxConcurrent: 5').replace('every: 1h', 'every: 2h'))
    const { stdout } = await belfry('apply')
    expect(stdout).toContain('~ queue mail (updated)\n      maxConcurrent: 2 → 5')
    expect(stdout).toContain('~ schedule ping (updated)\n      every: 1h → 2h')
    expect((await belfry('apply')).stdout).toContain('unchanged by')
  })

  it('tells in a rehearsal what it would do, and does nothing, not even make a store', async () => {
    file(two)
    const { stdout } = await belfry('apply --dry-run')
    expect(stdout).toContain('would apply')
    expect(stdout).toContain('+ schedule report (created)')
    expect((await belfry('schedule list')).exit).toBe(3)
  })

  it('makes no store for a file that is refused', async () => {
    file('source: ops\nschedules: { report: { cron: nonsense } }\n')
    expect(await belfry('apply')).toMatchObject({ exit: 2, stderr: expect.stringContaining('schedules.report.cron') })
    expect((await belfry('schedule list')).exit).toBe(3)
  })

  it('deletes all that its source made for a file that is empty or gone only when that is meant', async () => {
    file(two)
    await belfry('apply')
    file('')
    expect(await belfry('apply')).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('is empty; everything that source ops created is unchanged'),
    })
    expect(await names()).toHaveLength(2)
    expect(await belfry('apply --yes')).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('- schedule report (deleted)'),
    })
    expect(await names()).toEqual([])
  })

  it('asks for a yes before it deletes more than half', async () => {
    file(two)
    await belfry('apply')
    file('source: ops\n')
    expect(await belfry('apply')).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('It would delete 2 of the 2'),
    })
    expect((await belfry('apply --yes')).exit).toBe(0)
  })

  it('leaves what was created by hand alone, unless it is to take it over', async () => {
    await belfry('schedule create ping --every 3h --handler ping')
    file(two)
    expect(await belfry('apply')).toMatchObject({ exit: 4, stderr: expect.stringContaining('was created by hand') })
    expect(await names()).toEqual(['ping'])
    expect((await belfry('apply --adopt')).exit).toBe(0)
    const refused = await belfry('schedule update ping --every 5h')
    expect(refused).toMatchObject({ exit: 4, stderr: expect.stringContaining('The config file of source ops manages') })
  })

  it('reads another file that is named, and answers as JSON', async () => {
    terminal.write('other.yaml', 'source: b\nschedules: { x: { every: 1h } }\n')
    const answer = await terminal.json<object>('apply other.yaml', { env: env() })
    expect(answer).toMatchObject({ answer: 'applied', source: 'b', schedules: [{ name: 'x', answer: 'created' }] })
    expect((await belfry('config list')).stdout).toMatch(/^SOURCE +FILE +APPLIED +BY\nb +\S+other\.yaml/)
  })
})

describe('a named pipe without a writer', () => {
  it.each([
    'apply pipe',
    'trust pipe',
    'run enqueue --file pipe',
    'run enqueue --payload @pipe --handler h',
    'import crontab pipe',
    'run list --server http://127.0.0.1:1 --token-file pipe',
  ])('does not let a command wait for ever: %s', async (words) => {
    execFileSync('mkfifo', [join(terminal.folder, 'pipe')])
    expect(await belfry(words)).toMatchObject({ exit: 2, stderr: expect.stringContaining('is a named pipe') })
  })
})

describe('belfry trust', () => {
  const program = 'source: ops\nschedules: { a: { every: 1h, target: { command: [./backup.sh, --full] } } }\n'

  it('is needed once for all that a file starts that came with a checked-out tree', async () => {
    mkdirSync(join(terminal.folder, '.git'))
    file(program)
    expect(await belfry('apply')).toMatchObject({ exit: 6, stderr: expect.stringContaining('belfry trust') })
    const { exit, stdout } = await belfry('trust')
    expect(exit).toBe(0)
    expect(stdout).toContain('schedules.a.target  ["./backup.sh","--full"]')
    expect((await belfry('apply')).exit).toBe(0)
    file(program.replace('--full', '--all'))
    expect((await belfry('apply')).exit).toBe(6)
  })

  it('is asked for after the file was judged, so that its problems are told first', async () => {
    mkdirSync(join(terminal.folder, '.git'))
    file(program.replace('every: 1h', 'cron: nonsense'))
    for (const words of ['apply', 'trust', 'apply --dry-run']) {
      const { exit, stderr } = await belfry(words)
      expect({ words, exit, stderr }).toEqual({ words, exit: 2, stderr: expect.stringContaining('schedules.a.cron') })
    }
    file(program)
    expect((await belfry('apply')).exit, 'a refused trust was remembered').toBe(6)
  })

  it('is not needed for a rehearsal, which says that the deed needs it', async () => {
    mkdirSync(join(terminal.folder, '.git'))
    file(program)
    for (const _ of ['without a store', 'beside one']) {
      const { exit, stdout, stderr } = await belfry('apply --dry-run')
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringContaining('belfry trust') })
      expect(stdout).toContain('+ schedule a (created)')
      await belfry('queue set mail --max-concurrent 1')
    }
    expect((await belfry('apply')).exit).toBe(6)
  })

  it('is not needed again for another timing of the same program', async () => {
    mkdirSync(join(terminal.folder, '.git'))
    file(program)
    await belfry('trust')
    await belfry('apply')
    file(program.replace('every: 1h', 'every: 5s'))
    expect((await belfry('apply')).exit).toBe(0)
  })

  it('is given to a file that is applied with --yes or --adopt, and not to one that another source is in the way of', async () => {
    mkdirSync(join(terminal.folder, '.git'))
    await belfry('schedule create a --every 3h --handler a')
    file(program)
    expect((await belfry('trust')).exit).toBe(0)
    terminal.write('other.yaml', 'source: b\nschedules: { a: { every: 3h, target: { handler: a } } }\n')
    await belfry('apply other.yaml')
    expect((await belfry('trust')).exit).toBe(4)
  })

  it('shows the whole of a long command, at whose end something may be hidden', async () => {
    file(`source: ops\nschedules: { a: { every: 1h, target: { command: "echo ${'.'.repeat(300)}; rm -r /" } } }\n`)
    expect((await belfry('trust')).stdout).toContain('; rm -r /')
  })

  it('shows everything that it covers: folder, environment, secrets and payload can change what a harmless command does', async () => {
    const target = '{ command: [date], cwd: /srv, env: { K: { secret: S }, PATH: /srv/evil } }'
    file(`source: ops\nschedules: { a: { every: 1h, target: ${target}, payload: { a: 1 } } }\n`)
    const { stdout } = await belfry('trust')
    for (const shown of [
      '["date"]',
      'cwd: "/srv"',
      'env K: the secret S',
      'env PATH: "/srv/evil"',
      'payload: {"a":1}',
    ]) {
      expect(stdout).toContain(shown)
    }
    const env = { K: { secret: 'S' }, PATH: '/srv/evil' }
    expect(await terminal.json('trust')).toMatchObject({
      programs: [{ where: 'schedules.a.target', what: '["date"]', with: { cwd: '/srv', env, payload: { a: 1 } } }],
    })
  })

  it('lets what is relative begin where the file lies', async () => {
    mkdirSync(join(terminal.folder, 'deep'))
    chmodSync(terminal.write('deep/backup.sh', '#!/bin/sh\n'), 0o755)
    terminal.write('deep/belfry.yaml', program)
    await belfry('apply deep/belfry.yaml')
    const { target } = await terminal.json<{ target: unknown }>('schedule show a')
    expect(target).toMatchObject({ command: [join(terminal.folder, 'deep', 'backup.sh'), '--full'] })
  })
})
