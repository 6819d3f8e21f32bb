import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Shell } from '../../../e2e/belfry-process.ts'

const page = readFileSync(new URL('../../../../docs/guards.md', import.meta.url), 'utf8')

/** The commands of the page, as words. */
const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.startsWith('belfry '))
    .map((line) =>
      [...line.slice('belfry '.length).matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? ''),
    )
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe.each(['sqlite', 'postgres'] as const)('docs/guards.md on %s', (database) => {
  it('plays as it says: skipped while frozen, then done, then over', async () => {
    const shell = new Shell(database)
    shell.write('release.sh', '#!/bin/sh\necho released >> runs\necho published > state\n')
    shell.write('freeze', '')
    const [release = []] = commands
    expect((await shell.belfry(release)).stderr).not.toContain('error')
    const worker = await shell.up()
    await worker.told(/Run r-\w+ of release, attempt 1, was skipped: when \(/)
    const { runs: skipped } = await shell.json<{ runs: { id: string }[] }>('run list --status skipped')
    const why = await shell.belfry(`explain run ${skipped[0]?.id}`)
    expect(why.stdout).toContain('It ended without being executed: when (its `when` guard said no).')

    rmSync(join(shell.folder, 'freeze'))
    await shell.belfry('schedule run release')
    await worker.told(/Run r-\w+, attempt 1, completed/)
    expect(await shell.json('schedule show release')).toMatchObject({ finished: 'until', nextRunAt: null })
    expect((await shell.belfry('schedule list')).stdout).toMatch(/release .* finished: until/)
    const over = await shell.belfry('explain schedule release')
    expect(over.stdout).toMatch(/It has finished: its `until` ended it after a run\.\n.*schedule reset release/)
    const { runs } = await shell.json<{ runs: { id: string }[] }>('run list --status completed')
    const output = await shell.belfry(`run output ${runs[0]?.id}`)
    expect(output.stdout).toBe('guard: when said yes: exit code 0\nguard: until said yes: exit code 0\n')
    expect(readFileSync(join(shell.folder, 'runs'), 'utf8')).toBe('released\n')
  })

  it('pauses a schedule whose runs find nothing', async () => {
    const shell = new Shell(database)
    shell.write('inbox.sh', '#!/bin/sh\necho 0 new messages\n')
    const inbox = commands[1]?.map((word) => ({ '10m': '1s', '3': '2' })[word] ?? word) ?? []
    expect((await shell.belfry([...inbox, '--start-now'])).stderr).not.toContain('error')
    const worker = await shell.up()
    await worker.told(/(?:of inbox, attempt 1, completed after \S+: no-op[^\n]*[\s\S]*){2}/)
    expect(await shell.json('schedule show inbox')).toMatchObject({
      disabled: { reason: 'found nothing to do 2 times in a row (maxNoop)' },
    })
  })

  it('a worker that dies while it asks takes the guard along, and the next one asks again', async () => {
    const shell = new Shell(database)
    const hangs = 'test -f hung || { echo $$ > hung; exec sleep 600; }'
    const words = [
      'schedule',
      'create',
      'poll',
      '--every',
      '1h',
      '--start-now',
      '--until',
      hangs,
      '--cwd',
      shell.folder,
    ]
    await shell.belfry([...words, '--command', 'echo worked >> runs'])
    const first = await shell.up()
    const pid = Number(await shell.written('hung', /\d+\n/))
    first.signal('SIGKILL')
    await first.ended
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)

    const second = await shell.up()
    await second.told(/Run r-\w+, attempt 2, completed/)
    expect(await shell.json('schedule show poll')).toMatchObject({ finished: 'until', runsCount: 1 })
    expect(await shell.json('schedule history poll')).toMatchObject([{ outcome: 'completed', count: 1 }])
    // The end was not written, so the work was done again, as after every crash before the end is written.
    expect(readFileSync(join(shell.folder, 'runs'), 'utf8')).toBe('worked\nworked\n')
  })
})
