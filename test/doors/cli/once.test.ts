import { describe, expect, it } from 'vitest'
import { Shell } from '../../e2e/belfry-process.ts'

const failsOnce = 'if [ -e tried ]; then echo good; else touch tried; exit 3; fi'

describe.each(['sqlite', 'postgres'] as const)('up --once on %s', (database) => {
  it('exits 1 after a run has failed, and says how many completed and how many failed', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set default --max-attempts 1')
    await shell.belfry(['schedule', 'create', 'bad', '--every', '1h', '--start-now', '--command', 'exit 3'])
    await shell.belfry(['run', 'enqueue', '--command', 'true'])
    const { exit, stdout } = await shell.belfry('up --once')
    expect(stdout).toMatch(/Everything that was due is done: 1 completed, 1 failed\. The next work is due in .*\n$/)
    expect(exit).toBe(1)
  })

  it('exits 1 after a run was parked, and 0 with --keep-going', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set default --max-attempts 1')
    await shell.belfry(['run', 'enqueue', '--command', 'exit 3'])
    expect(await shell.belfry('up --once')).toMatchObject({ exit: 1, stdout: expect.stringContaining(': 1 parked.') })
    await shell.belfry(['run', 'enqueue', '--command', 'exit 3'])
    const kept = await shell.belfry('up --once --keep-going')
    expect(kept).toMatchObject({ exit: 0, stdout: expect.stringContaining(': 1 parked.') })
  })

  it('does not wait for a retry without --for, and says that it comes and when, never "now"', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set default --backoff-base 900ms')
    await shell.belfry(['run', 'enqueue', '--command', 'exit 3'])
    const { exit, stdout } = await shell.belfry('up --once')
    expect(stdout).toMatch(/done: 1 will retry \(in \d+ ms\)\.|done: 1 will retry \(at once\)\./)
    expect(stdout).not.toContain('comes now')
    expect(exit).toBe(0)
  })

  it('works off a retry that becomes due within --for, also one that an earlier worker left', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set default --backoff-base 1s')
    await shell.belfry(['run', 'enqueue', '--cwd', shell.folder, '--command', failsOnce])
    expect(await shell.belfry('up --once')).toMatchObject({ exit: 0 })
    const { exit, stdout } = await shell.belfry('up --once --for 1m')
    expect(stdout).toContain('Everything that was due is done: 1 completed. Nothing is due later.')
    expect(exit).toBe(0)
  })

  it('leaves a retry that becomes due after --for', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set default --backoff-base 30m --backoff-cap 1h')
    await shell.belfry(['run', 'enqueue', '--command', 'exit 3'])
    const { exit, stdout } = await shell.belfry('up --once --for 1m')
    expect(stdout).toMatch(/done: 1 will retry \(in (29|30) min\)\. The next work is due in (29|30) min\./)
    expect(exit).toBe(0)
  })
})

/** A worker at three runs is killed: one has no attempt left, one must not be repeated, and one will be retried. */
async function killedAtWork(shell: Shell): Promise<void> {
  await shell.belfry('queue set default --backoff-base 30m --backoff-cap 1h')
  const sleeps = ['--cwd', shell.folder, '--command', 'echo at work >> log; exec sleep 600']
  for (const flags of [['--attempts', '1'], ['--no-repeatable'], []]) {
    const { exit, stderr } = await shell.belfry(['run', 'enqueue', ...flags, ...sleeps])
    expect(exit, stderr).toBe(0)
  }
  const worker = await shell.up()
  await shell.written('log', /(at work\n){3}/)
  worker.signal('SIGKILL')
  await worker.ended
}

describe.each(['sqlite', 'postgres'] as const)('up --once after a worker on %s was killed', (database) => {
  it('tells each run that it takes back once, and counts it once, by what became of it', async () => {
    const shell = new Shell(database)
    await killedAtWork(shell)
    const { exit, stdout } = await shell.belfry('up --once')
    expect(stdout.match(/because its worker is dead; it is parked until it is reset/g)).toHaveLength(2)
    expect(stdout.match(/because its worker is dead; it is retried at .*Z\.\n/g)).toHaveLength(1)
    expect(stdout.match(/Run r-/g)).toHaveLength(3)
    expect(stdout).toMatch(/done: 2 parked, 1 will retry \(in (29|30) min\)\. The next work is due in (29|30) min\./)
    expect(exit).toBe(1)
  })

  it('tells programs the same, with the instant of the retry', async () => {
    const shell = new Shell(database)
    await killedAtWork(shell)
    const { stdout } = await shell.belfry('up --once --json')
    const told = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const retried = told.find(({ event, status }) => event === 'run.reclaimed' && status === 'ready')
    expect(told.at(-1)).toMatchObject({ event: 'worker.done', parked: 2, retrying: 1 })
    expect(retried.nextEligibleAt).toMatch(/Z$/)
    expect(told.at(-1).nextRetryAt).toBe(retried.nextEligibleAt)
  })
})

describe('up --once', () => {
  it('tells programs its counts in a last line of JSON', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('queue set default --backoff-base 30m --backoff-cap 1h')
    for (const script of ['true', 'exit 3']) await shell.belfry(['run', 'enqueue', '--command', script])
    const { stdout } = await shell.belfry('up --once --json')
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toEqual({
      at: expect.any(String),
      event: 'worker.done',
      level: 'info',
      completed: 1,
      failed: 0,
      parked: 0,
      cancelled: 0,
      skipped: 0,
      retrying: 1,
      nextRetryAt: expect.stringMatching(/Z$/),
    })
  })

  it('counts a run that failed first and completed within --for as completed, and ends well', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('queue set default --backoff-base 1ms')
    await shell.belfry(['run', 'enqueue', '--cwd', shell.folder, '--command', failsOnce])
    const { exit, stdout } = await shell.belfry('up --once --for 1m')
    expect(stdout).toContain('Everything that was due is done: 1 completed. Nothing is due later.')
    expect(exit).toBe(0)
  })

  it('is what --for and --keep-going are about: both are refused without it, together with what else is wrong', async () => {
    const shell = new Shell('sqlite')
    const { exit, stderr } = await shell.belfry('up --for 5 --keep-going')
    expect(exit).toBe(2)
    expect(stderr).toMatch(/--for +needs --once/)
    expect(stderr).toMatch(/--for +is "5"/)
    expect(stderr).toMatch(/--keep-going +needs --once/)
  })
})
