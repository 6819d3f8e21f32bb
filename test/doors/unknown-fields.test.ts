import { afterAll, describe, expect, it, vi } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { verbsAt } from '../operations/desk.ts'
import { Terminal } from './cli/terminal.ts'
import { onPorch } from './http/porch.ts'

const porch = onPorch()
const here = verbsAt(() => porch().desk.context)
const terminal = new Terminal()
afterAll(() => terminal.remove())

const count = 5_000
/** Each is near to a field that there is, so that a search would find something. */
const misspelt = Object.fromEntries(Array.from({ length: count }, (_, index) => [`priority${index}`, 1]))

/** How many names were compared: a search writes each name that it looks at in small letters. */
async function comparisons<Answer>(step: () => Promise<Answer>): Promise<{ answer: Answer; compared: number }> {
  const spy = vi.spyOn(String.prototype, 'toLowerCase')
  try {
    const answer = await step()
    return { answer, compared: spy.mock.calls.length }
  } finally {
    spy.mockRestore()
  }
}

const messageOf = (error: unknown) => {
  if (error instanceof BelfryError) return error.message
  throw error
}

async function tool(name: string, args: object): Promise<string> {
  const params = { name, arguments: args }
  const headers = { accept: 'application/json, text/event-stream' }
  const response = await porch().ask('/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers })
  return response.text()
}

const doors: Record<string, () => Promise<string>> = {
  'the library': () => here.runs.enqueue({ target: null, ...misspelt } as never).then(String, messageOf),
  'the library, with the subject before the options': () =>
    here.schedules.pause('nightly', misspelt as never).then(String, messageOf),
  HTTP: async () => (await porch().ask('/api/runs', { body: { target: null, ...misspelt } })).text(),
  'HTTP, inside a list': async () =>
    (await porch().ask('/api/runs/enqueue-many', { body: { runs: [{ target: null, ...misspelt }] } })).text(),
  MCP: () => tool('run_enqueue', { target: null, ...misspelt }),
  'MCP, where a confirmation is asked for': () => tool('schedule_delete', misspelt),
  'the command line': async () => {
    const file = terminal.write('misspelt.json', JSON.stringify({ ...misspelt, target: null }))
    return (await terminal.belfry(['run', 'enqueue', '--file', file])).stderr
  },
  'the command line, as flags': async () => {
    const flags = Object.keys(misspelt).flatMap((name) => [`--${name}`, '1'])
    return (await terminal.belfry(['run', 'enqueue', '--target', 'null', ...flags])).stderr
  },
  'the command line, in a list of names': async () =>
    (await terminal.belfry(['schedule', 'update', 'x', '--unset', Object.keys(misspelt).join(',')])).stderr,
}

describe('a request full of unknown fields does not stop the event loop', () => {
  it.each(Object.entries(doors))('%s searches the nearest name for the first 20 of them only', async (_, ask) => {
    const { answer, compared } = await comparisons(ask)
    // 20 searches among some dozens of names, and what the door itself writes in small letters.
    expect(compared).toBeLessThan(3_000)
    expect(answer).toContain('priority0')
    expect(answer.match(/if that was meant/g)?.length ?? 0).toBeLessThanOrEqual(40)
  })

  it.each(Object.entries(doors))('%s refuses them in few words, and says how many more there are', async (_, ask) => {
    const answer = await ask()
    expect(answer.length).toBeLessThan(60_000)
    // Where the name is missing besides, one more is left over.
    expect(answer).toMatch(/and 490[01] more/)
  })

  it('a list in which every item is wrong is read until a refusal is full, and the others are counted', async () => {
    const runs = Array.from({ length: 20_000 }, () => ({ target: null, priorityy: 1 }))
    const { answer, compared } = await comparisons(() => here.runs.enqueueMany(runs as never).then(String, messageOf))
    expect(compared).toBeLessThan(3_000)
    expect(answer).toContain('runs has 19900 more items after runs[99], which were not read')
    expect(answer).toContain('runs[0].priorityy is not a field of a run (expected: priority, if that was meant)')
    expect(answer.length).toBeLessThan(20_000)
  })

  it('a long list whose last item is wrong is told so, and one that is too long is refused before it is read', async () => {
    const runs: object[] = Array.from({ length: 5_000 }, () => ({ target: null, payload: 1 }))
    const said = (list: readonly unknown[]) => here.runs.enqueueMany(list as never).then(String, messageOf)
    expect(await said([...runs, { target: null, queue: 7 }])).toMatch(
      /^The list of runs is refused: runs\[5000\]\.queue is 7/,
    )
    const unread = new Proxy({}, { ownKeys: () => expect.unreachable('an item was read') })
    expect(await said(Array.from({ length: 100_001 }, () => unread))).toMatch(/runs is a list .*at most 100000 of them/)
    expect(await here.runs.enqueueMany(runs as never)).toHaveLength(5_000)
  })

  it('a program with a hundred thousand wrong arguments is refused with the first hundred', async () => {
    const command = Array.from({ length: 100_000 }, () => 1)
    const answer = await here.runs.enqueue({ target: { command } as never }).then(String, messageOf)
    expect(answer).toContain('target.command has 99900 more after command[99], which were not read')
    expect(answer.length).toBeLessThan(20_000)
  })

  it('a hundred and fifty thousand unknown rules of an answer are refused as any others', async () => {
    const rules = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`f${index}`, 1]))
    const answer = await here.runs.enqueue({ target: null, expect: rules } as never).then(String, messageOf)
    expect(answer).toContain('and 149900 more')
  })
})
