import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Shell } from './belfry-process.ts'

interface Said {
  readonly words: string[]
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

interface Written {
  readonly answer: 'created' | 'updated' | 'unchanged'
  readonly schedule: { readonly id: string; readonly version: number }
}

const path = fileURLToPath(new URL('terminal-process.mjs', import.meta.url))

async function typeAll(shell: Shell, lines: readonly string[]): Promise<Said[]> {
  const all = lines.map((line) => {
    const [head = '', ...rest] = line.split(' -- ')
    return [[head, ...shell.store, '--json'].join(' '), ...rest].join(' -- ')
  })
  const child: ChildProcess = fork(path, [shell.folder, ...all], { stdio: 'inherit', env: {} })
  const said: Said[] = []
  child.on('message', (one) => said.push(one as Said))
  const [exit] = await once(child, 'exit')
  expect(exit).toBe(0)
  return said
}

/** The same names from both sides (a dot stands for a blank inside a word), each in an order of its own, over and over. */
function lines(own: number): string[] {
  const rounds = [1, 2, 3].flatMap((round) => [
    `schedule create a --every ${round}s --start-now -- true`,
    `schedule put a --every ${round + own}s --priority ${own} -- true`,
    `schedule update a --tags t${own}${round}`,
    'schedule run a --force',
    'run cancel {run}',
    `schedule put b --cron */${round}·*·*·*·* --queue q --handler h`,
    `queue set q --max-concurrent ${own + round}`,
    'schedule pause a --for 1h',
    'schedule hint a --every 2s --reason x',
    'schedule resume a',
    'schedule delete b --yes',
    `run enqueue --idempotency-key ${round} --priority ${own} --command true`,
    'queue pause q',
    'queue resume q',
    'schedule list',
    ...(own === round ? ['schedule delete a --yes'] : []),
  ])
  return own === 1 ? rounds : [...rounds.slice(7), ...rounds.slice(0, 7)]
}

describe.each(['sqlite', 'postgres'] as const)('two terminals at once on %s, beside a worker,', (database) => {
  it('get an answer to every command, and no write of either is lost, doubled or done by half', async () => {
    const shell = new Shell(database)
    const worker = await shell.up('--json')
    const said = (await Promise.all([typeAll(shell, lines(1)), typeAll(shell, lines(2))])).flat()
    const bad = said.filter(
      ({ exit, stderr }) => ![0, 3, 4].includes(exit) || /SQLITE|unexpected|deadlock/i.test(stderr),
    )
    expect(bad).toEqual([])
    expect(said.filter(({ exit }) => exit === 0).length).toBeGreaterThan(said.length / 2)

    const written = said
      .filter(
        ({ words: [noun, verb = ''], exit }) => exit === 0 && noun === 'schedule' && /create|put|update/.test(verb),
      )
      .map(({ stdout }) => JSON.parse(stdout) as Written)
    const told = written
      .filter(({ answer }) => answer !== 'unchanged')
      .map(({ schedule }) => `${schedule.id} ${schedule.version}`)
    expect(told.toSorted()).toEqual((await kept(shell)).toSorted())
    const answers = said.filter(({ words, exit }) => words[1] === 'enqueue' && exit === 0)
    const made = answers.map(({ stdout }) => JSON.parse(stdout) as { created: boolean; id: string })
    expect(made.filter(({ created }) => created).map(({ id }) => id)).toHaveLength(
      new Set(made.map(({ id }) => id)).size,
    )

    worker.signal('SIGTERM')
    const { exit, stdout, stderr } = await worker.ended
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
    expect(
      stdout.split('\n').filter((line) => /"(store|worker\.failed|schedule\.broken|run\.unsettled)/.test(line)),
    ).toEqual([])
  })
})

/** Every version of every schedule that the store has, deleted ones too. */
async function kept(shell: Shell): Promise<string[]> {
  const lists = [
    await shell.json<{ id: string }[]>('schedule list'),
    await shell.json<{ id: string }[]>('schedule list --deleted'),
  ]
  const versions = lists.flat().map(async ({ id }) => {
    const found = await shell.json<{ version: number }[]>(`schedule versions ${id}`)
    return found.map(({ version }) => `${id} ${version}`)
  })
  return (await Promise.all(versions)).flat()
}
