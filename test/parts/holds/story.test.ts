import { describe, expect, it } from 'vitest'
import { Shell } from '../../e2e/belfry-process.ts'

/** Types a command as a process of its own. */
const typed = (shell: Shell, words: string | readonly string[]) => shell.start(words).ended

describe.each(['sqlite', 'postgres'] as const)('at the terminal on %s', (database) => {
  it('stop lets nothing start and says why and until when, and go starts what waited', async () => {
    const shell = new Shell(database)
    const worker = await shell.up()
    const stopped = await typed(shell, ['stop', '--reason', 'Incident 4711'])
    expect(stopped).toMatchObject({ exit: 0, stderr: expect.not.stringContaining('error') })
    expect(stopped.stdout).toMatch(
      /^stopped everything \(h-\w+\); nothing is at work\n {2}start everything again: .*\bgo\b/,
    )
    await worker.told(/Everything is stopped by \S+ from \S+ on \(h-\w+\): Incident 4711\./)
    await shell.belfry('schedule create bell --every 1h --start-now -- echo ding')
    const { id } = await shell.json<{ id: string }>('run enqueue -- echo dong')

    const { stdout: why } = await typed(shell, ['explain', 'run', id])
    expect(why).toMatch(/Everything is stopped by \S+: Incident 4711\.[\s\S]*\bgo\b/)
    const again = await typed(shell, 'stop')
    expect(again).toMatchObject({ exit: 4, stdout: '' })
    expect(again.stderr).toMatch(/Everything is stopped already, by \S+ since 20\S+Z: Incident 4711\./)
    const plan = await typed(shell, 'sched plan --kinds command')
    const lease = await typed(shell, 'sched lease builder')
    expect(lease.stdout).toMatch(/the queue is held by h-/)
    expect(plan.stdout).toMatch(/would not start: 1 held-by\n {2}held by: h-\w+\n/)
    expect(await shell.json(`run show ${id}`)).toMatchObject({ status: 'ready', fence: 0 })
    expect(worker.stdout).not.toMatch(/fired|completed/)

    expect(await typed(shell, 'go')).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^everything goes on: lifted h-/),
    })
    await worker.told(/Hold h-\w+ on namespace was lifted\./)
    await worker.told(new RegExp(`Run ${id}, attempt 1, completed`))
    await worker.told(/Run r-\w+ of bell, attempt 1, completed/)
    expect(await typed(shell, 'go')).toMatchObject({ exit: 4, stderr: expect.stringContaining('Nothing is stopped.') })
  })

  it('stop --cancel ends what is at work, and a hold on a queue lets the others go on', async () => {
    const shell = new Shell(database)
    const worker = await shell.up()
    const sleeps = ['--cwd', shell.folder, '--command', 'echo begun >> began; exec sleep 600']
    const { id: first } = await shell.json<{ id: string }>(['run', 'enqueue', ...sleeps])
    await shell.written('began', /begun/)
    const { stdout } = await typed(shell, ['stop', '--cancel'])
    expect(stdout).toMatch(/; 1 run is at work, and 1 of them asked to end\n/)
    await worker.told(new RegExp(`Run ${first}, attempt 1, was cancelled`))
    await typed(shell, 'go')

    await shell.belfry('queue set mail')
    const { stdout: put } = await typed(shell, [
      'hold',
      'put',
      '--on',
      'queue:mail',
      '--reason',
      'Moved.',
      '--for',
      '2h',
    ])
    const [, hold = ''] = /^(h-\w+) holds queue:mail until in /.exec(put) ?? []
    const { id: held } = await shell.json<{ id: string }>('run enqueue --queue mail -- echo held')
    const { id: free } = await shell.json<{ id: string }>('run enqueue -- echo free')
    await worker.told(new RegExp(`Run ${free}, attempt 1, completed`))
    expect(await shell.json(`run show ${held}`)).toMatchObject({ status: 'ready', fence: 0 })
    expect((await typed(shell, 'hold list')).stdout).toMatch(new RegExp(`${hold} +queue:mail +hold .* Moved\\.`))
    expect(await typed(shell, `hold lift ${hold}`)).toMatchObject({ exit: 0, stdout: `lifted ${hold} on queue:mail\n` })
    await worker.told(new RegExp(`Run ${held}, attempt 1, completed`))
  })
})
