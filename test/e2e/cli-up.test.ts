import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { binary, Shell } from './belfry-process.ts'

interface Run {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly fence: number
  readonly queue: string
  readonly schedule: string | null
}

async function listening(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('heard')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ring`, asked }
}

const runsOf = async (shell: Shell) => (await shell.json<{ runs: Run[] }>('run list')).runs

/** A command that says that it has begun, and ends when the file `go` is there. */
const untilGo = ['sh', '-c', 'echo begun >> began; while [ ! -e go ]; do sleep 0.02; done; echo ended >> began']

describe.each(['sqlite', 'postgres'] as const)('a worker on %s', (database) => {
  it('fires and executes a command and a request as they come due, and tells a line for each', async () => {
    const shell = new Shell(database)
    const { url, asked } = await listening()
    await shell.belfry('schedule create bell --every 1h --start-now -- echo ding')
    const worker = await shell.up()
    await worker.told(/Schedule bell fired (r-\w+)[\s\S]*Run \1 of bell, attempt 1, completed/)
    await shell.belfry(['schedule', 'create', 'ring', '--every', '1h', '--start-now', '--http', url])
    await worker.told(/Schedule ring fired (r-\w+)[\s\S]*Run \1 of ring, attempt 1, completed/)
    expect(asked).toEqual(['GET /ring'])
    worker.signal('SIGTERM')
    expect(await worker.ended).toMatchObject({ exit: 0, stderr: '', stdout: expect.stringMatching(/Stopped\.\n$/) })
    const runs = await runsOf(shell)
    expect(runs.map(({ schedule, status }) => [schedule, status])).toEqual([
      ['ring', 'completed'],
      ['bell', 'completed'],
    ])
    expect((await shell.belfry(`run output ${runs[1]?.id}`)).stdout).toBe('ding\n')
  })

  it('waits no longer after the second Ctrl-C, and gives the run back without counting an attempt', async () => {
    const shell = new Shell(database)
    await shell.belfry(['run', 'enqueue', '--command', '--cwd', shell.folder, '--', ...untilGo])
    const worker = await shell.up()
    await shell.written('began', /begun/)
    worker.ctrlC()
    await worker.told(/Stopping/)
    worker.ctrlC()
    const { exit, stdout } = await worker.ended
    expect({ exit, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
      exit: 0,
      last: expect.stringMatching(/^Stopped; 1 run was released unfinished \(r-\w+\)\.$/),
    })
    expect(await runsOf(shell)).toMatchObject([{ status: 'ready', attempts: 0, fence: 1 }])
  })

  it('tells of runs that it stops which were given back, and which were parked because they must not be repeated', async () => {
    const shell = new Shell(database)
    const sleeps = ['--cwd', shell.folder, '--command', 'echo begun >> began; exec sleep 600']
    for (const flags of [[], ['--no-repeatable']]) await shell.belfry(['run', 'enqueue', ...flags, ...sleeps])
    const worker = await shell.up('--grace 1ms')
    await shell.written('began', /(begun\n){2}/)
    worker.signal('SIGTERM')
    const { stdout } = await worker.ended
    const runs = await runsOf(shell)
    const idOf = (wanted: string) => runs.find(({ status }) => status === wanted)?.id
    const parked = `1 run was parked, because it is unknown whether their work was done (${idOf('parked')})`
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      `Stopped; 1 run was released unfinished (${idOf('ready')}); ${parked}.`,
    )
  })

  it('shares the work with another on the same store: each run is executed once, by one of them', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set default --max-concurrent 2')
    const workers = await Promise.all([shell.up('--json --slots 1'), shell.up('--json --slots 1')])
    const names = ['a', 'b']
    // Each waits for the other, so that neither can have been executed where the other was.
    const meet = (own: string, other: string) =>
      `echo ${own} >> ran; touch ${own}; while [ ! -e ${other} ]; do sleep 0.02; done`
    for (const [own = '', other = ''] of [names, names.toReversed()]) {
      await shell.belfry(['run', 'enqueue', '--cwd', shell.folder, '--command', meet(own, other)])
    }
    await Promise.all(workers.map((worker) => worker.told(/"event":"run.completed"/)))
    for (const worker of workers) worker.signal('SIGTERM')
    const ends = await Promise.all(workers.map(({ ended }) => ended))
    expect(ends.map(({ exit, stdout }) => [exit, stdout.match(/run\.completed/g)?.length])).toEqual([
      [0, 1],
      [0, 1],
    ])
    expect((await shell.written('ran', /./)).split('\n').toSorted()).toEqual(['', 'a', 'b'])
  })
})

describe('a worker', () => {
  it('lets what is at work end after Ctrl-C, which the terminal sends to everybody, and then ends well', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry(['run', 'enqueue', '--command', '--cwd', shell.folder, '--', ...untilGo])
    const worker = await shell.up()
    await shell.written('began', /begun/)
    worker.ctrlC()
    await worker.told(/1 run is at work and may take 25 s to end/)
    await shell.belfry(['run', 'enqueue', '--command', '--', 'touch', `${shell.folder}/never`])
    shell.write('go', '')
    expect(await worker.ended).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/completed[\s\S]*\nStopped\.\n$/),
    })
    expect((await runsOf(shell)).map(({ status }) => status)).toEqual(['ready', 'completed'])
  })

  it('told to work once does what is due, says when more comes, and ends, also when nothing is due', async () => {
    const shell = new Shell('sqlite')
    const nothing = await shell.start('up --once').ended
    expect(nothing).toMatchObject({ exit: 0, stderr: '' })
    expect(nothing.stdout).toContain('Everything that was due is done. Nothing is due later.\n')
    await shell.belfry('schedule create later --every 2h -- date')
    await shell.belfry('schedule create now --every 2h --start-now -- date')
    const some = await shell.start('up --once').ended
    expect(some.stdout).toMatch(
      /Schedule now fired[\s\S]*completed[\s\S]*done: 1 completed\. The next work is due in 1 h 59 min\.\n$/,
    )
    expect(some.stdout).not.toContain('later')
    expect(some.exit).toBe(0)
  })

  it('told to work once and to wait for a retry ends at once after Ctrl-C', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('queue set default --backoff-base 30m --backoff-cap 1h')
    await shell.belfry(['run', 'enqueue', '--command', 'exit 3'])
    const worker = shell.start('up --once --for 2h')
    await worker.told(/attempt 1, ended after .*the next attempt starts at .*Z\./)
    worker.ctrlC()
    expect(await worker.ended).toMatchObject({ exit: 0, stdout: expect.stringMatching(/Stopped\.\n$/) })
  })

  it('takes only the queues it was told to, and as many runs at once as it was told to', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('queue set mine --max-concurrent 5')
    for (const queue of ['mine', 'mine', 'other']) {
      await shell.belfry(['run', 'enqueue', '--queue', queue, '--command', '--cwd', shell.folder, '--', ...untilGo])
    }
    const worker = await shell.up('--queues mine --slots 1')
    await shell.written('began', /begun/)
    expect((await runsOf(shell)).map(({ queue, status }) => [queue, status])).toEqual([
      ['other', 'ready'],
      ['mine', 'ready'],
      ['mine', 'leased'],
    ])
    shell.write('go', '')
    await worker.told(/completed[\s\S]*completed/)
    expect((await runsOf(shell)).map(({ status }) => status)).toEqual(['ready', 'completed', 'completed'])
  })

  it('that answers programs writes lines of JSON and nothing else, with instants as every door tells them', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('schedule create bell --every 1h --start-now -- echo ding')
    const worker = await shell.up('--json')
    await worker.told(/run\.completed/)
    worker.ctrlC()
    const { exit, stdout, stderr } = await worker.ended
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ event }) => event)).toEqual([
      'worker.started',
      'schedule.fired',
      'run.started',
      'run.completed',
      'worker.stopping',
      'worker.stopped',
    ])
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(lines[1]).toMatchObject({ at: iso, schedule: 'bell', occurrenceAt: iso })
  })

  it('told to do what is due once says so where runs are left that could not go', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('run enqueue --handler nobody-has-it')
    const { exit, stdout } = await shell.start('up --once').ended
    expect(exit).toBe(0)
    expect(stdout).toContain(`Other runs are ready and wait: node ${binary} run list --status ready.`)
    expect(stdout).not.toContain('Nothing is due later')
  })

  it('whose store is deleted under it shouts, and still ends at once when it is told to', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('schedule create bell --every 1s -- true')
    const worker = await shell.up()
    rmSync(join(shell.folder, '.belfry'), { recursive: true })
    await worker.told(/belfry\.db was deleted or replaced while it was open here/)
    worker.signal('SIGINT')
    expect((await worker.ended).exit).toBe(5)
  })

  it('told to be quiet tells only what goes wrong', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('schedule create good --every 1h --start-now -- true')
    await shell.belfry('schedule create bad --every 1h --start-now -- false')
    await shell.belfry('queue set default --max-attempts 1')
    const { exit, stdout } = await shell.start('up --once --quiet').ended
    expect({ exit, stdout }).toEqual({
      exit: 1,
      stdout: expect.stringMatching(/^[\d:]+ Run r-\w+ of bad, attempt 1, failed.*\n$/),
    })
  })

  it('whose reader has gone ends in good order, and says nothing of it', async () => {
    const shell = new Shell('sqlite')
    const worker = await shell.up()
    // All that it tells by itself must have come: what it writes next is about the run.
    await worker.told(/explain schedule hello/)
    worker.child.stdout?.destroy()
    await shell.belfry('run enqueue --command true')
    expect(await worker.ended).toMatchObject({ exit: 0, stderr: '' })
    expect((await runsOf(shell)).map(({ status }) => status)).toEqual(['completed'])
  })

  it('that cannot open its store says why, and fails as unavailable', async () => {
    const shell = new Shell('sqlite')
    const { exit, stdout, stderr } = await shell.start('up --store postgres://nobody@127.0.0.1:1/none').ended
    expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' })
    expect(stderr).toMatch(/^error: PostgreSQL at .* does not answer[\s\S]*hint: /)
  })
})
