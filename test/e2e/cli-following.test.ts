import { existsSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { openHandle } from '../../src/store/sqlite/driver.ts'
import { Shell } from './belfry-process.ts'

/** Says a word, and the next one each time that a file of its name is there. */
const speaker = 'for word in one two three; do while [ ! -e "$word" ]; do sleep 0.02; done; echo "$word"; done'

async function speaking(shell: Shell): Promise<string> {
  const { id } = await shell.json<{ id: string }>(['run', 'enqueue', '--cwd', shell.folder, '--command', speaker])
  return id
}

const statusOf = async (shell: Shell, id: string) => (await shell.json<{ status: string }>(`run show ${id}`)).status

/** Starts a worker, and comes when it has begun with the run: a follower who comes before it is registered is told that none runs. */
async function atWork(shell: Shell, id: string): Promise<void> {
  await shell.up()
  await vi.waitFor(async () => expect(await statusOf(shell, id)).toBe('leased'), { timeout: 60_000 })
}

describe.each(['sqlite', 'postgres'] as const)('the output of a run on %s', (database) => {
  it('is followed while it comes, as it is for people and as lines of JSON for programs, until the run has ended', async () => {
    const shell = new Shell(database)
    const id = await speaking(shell)
    await atWork(shell, id)
    const people = shell.start(`run output -f ${id}`)
    const program = shell.start(`run output ${id} --follow --json`)
    for (const word of ['one', 'two', 'three']) {
      shell.write(word, '')
      await Promise.all([people, program].map((each) => each.told(new RegExp(word))))
    }
    expect(await people.ended).toEqual({ exit: 0, stdout: 'one\ntwo\nthree\n', stderr: `${id} is completed\n` })
    const { exit, stdout, stderr } = await program.ended
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(lines).toEqual(['one', 'two', 'three'].map((word) => ({ attempt: 1, text: `${word}\n` })))
  })
})

describe('whoever watches a run', () => {
  it('leaves it alone when he presses Ctrl-C, and leaves no trace in the store', async () => {
    const shell = new Shell('sqlite')
    const id = await speaking(shell)
    const waiter = shell.start(`run wait ${id}`)
    await waiter.told(/note: no worker runs/)
    await atWork(shell, id)
    shell.write('one', '')
    const follower = shell.start(`run output -f ${id}`)
    await follower.told(/one/)
    follower.ctrlC()
    waiter.signal('SIGTERM')
    expect(await follower.ended).toEqual({ exit: 130, stdout: 'one\n', stderr: '' })
    expect(await waiter.ended).toMatchObject({ exit: 143, stdout: '' })
    expect(openers(shell)).toBe(1)
    expect(await statusOf(shell, id)).toBe('leased')
  })

  it('and goes away is not missed: a closed pipe is no failure', async () => {
    const shell = new Shell('sqlite')
    const id = await speaking(shell)
    await atWork(shell, id)
    shell.write('one', '')
    const follower = shell.start(`run output -f ${id}`)
    await follower.told(/one/)
    follower.child.stdout?.destroy()
    shell.write('two', '')
    expect(await follower.ended).toEqual({ exit: 0, stdout: 'one\n', stderr: '' })
    expect(await statusOf(shell, id)).toBe('leased')
    for (const words of ['run list', '--help', `run show ${id} --json`]) {
      const reader = shell.start(words)
      reader.child.stdout?.destroy()
      expect({ words, ...(await reader.ended) }).toEqual({ words, exit: 0, stdout: '', stderr: '' })
    }
  })

  it('gets what it put out as it is through a pipe, and as what it is at a terminal, which would do what it says', async () => {
    const shell = new Shell('sqlite')
    const nasty = '\\033]0;x\\007\\033[31mred\\r\\n'
    const { id } = await shell.json<{ id: string }>(['run', 'enqueue', '--command', '--', 'printf', nasty])
    await shell.start('up --once').ended
    const raw = '\u001b]0;x\u0007\u001b[31mred\r\n'
    const safe = '\\u001b]0;x\\u0007\u001b[31mred\n'
    for (const words of [`run output ${id}`, `run output -f ${id}`]) {
      expect((await shell.belfry(words)).stdout).toBe(raw)
      expect((await shell.belfry(words, { isTTY: true })).stdout).toBe(safe)
    }
  })

  it('learns by the exit code how it ended', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('queue set default --max-attempts 1')
    const ids = []
    for (const command of ['true', 'false']) {
      ids.push((await shell.json<{ id: string }>(`run enqueue --command ${command}`)).id)
    }
    await shell.up()
    const ends = await Promise.all(ids.map((id) => shell.belfry(`run wait ${id}`)))
    expect(ends.map(({ exit, stdout }) => [exit, /^\S+ {2}(\w+)/.exec(stdout)?.[1]])).toEqual([
      [0, 'completed'],
      [1, 'parked'],
    ])
  })

  // Only Linux has a disk that is always full.
  it.skipIf(!existsSync('/dev/full'))('is told when the disk is too full to tell him', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('queue set default --max-concurrent 1')
    const { exit, stderr } = await shell.intoFullDisk('queue list')
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining('could not be written: ENOSPC') })
  })
})

/** How many processes have the store open. */
function openers(shell: Shell): number {
  const handle = openHandle(`${shell.folder}/.belfry/belfry.db`, { readOnly: true })
  const [row] = handle.prepare('select count(*) as count from opener').all() as { count: number }[]
  handle.close()
  return row?.count ?? 0
}
