import { EventEmitter, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { mcp } from '../../../src/doors/cli/commands/mcp.ts'
import type { StoreOpening } from '../../../src/doors/cli/world.ts'
import { openSession, serveModel } from '../../../src/sessions.ts'
import { Terminal } from './terminal.ts'

const terminals: Terminal[] = []
let terminal: Terminal
beforeEach(() => {
  terminal = new Terminal()
  terminals.push(terminal)
})
afterAll(() => {
  for (const each of terminals) each.remove()
})

/** What a client sends, one message a line; the pipe closes behind the last. */
function sent(...requests: readonly { readonly method: string; readonly params?: object }[]): string {
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a model', version: '1' } }
  const lines = [{ method: 'initialize', params: hello }, ...requests].map((request, index) =>
    JSON.stringify({ jsonrpc: '2.0', id: index, ...request }),
  )
  return `${lines.join('\n')}\n`
}

interface Reply {
  readonly id: number
  readonly result: {
    readonly tools?: readonly { readonly name: string }[]
    readonly isError?: boolean
    readonly content?: readonly { readonly text: string }[]
  }
}

function repliesIn(stdout: string): Reply[] {
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Reply).sort((a, b) => a.id - b.id)
}

const list = { method: 'tools/list' }
const look = { method: 'tools/call', params: { name: 'schedule_list', arguments: {} } }

describe('belfry mcp', () => {
  it('in a folder without a store answers, and says in every answer what to do, instead of dying at the start', async () => {
    const { exit, stdout, stderr } = await terminal.belfry('mcp', { stdin: sent(list, look) })
    expect(exit).toBe(0)
    const [hello, tools, call] = repliesIn(stdout)
    expect(hello?.result).toHaveProperty('instructions')
    expect(tools?.result.tools).toHaveLength(15)
    expect(call?.result.isError).toBe(true)
    const { error } = JSON.parse(call?.result.content?.[0]?.text ?? '') as { error: Record<string, string> }
    expect(error).toMatchObject({ code: 'not-found', message: expect.stringContaining(terminal.folder) })
    expect(error.hint).toMatch(/`belfry up`.+--store.+call again/)
    expect(stderr).toContain('There is no store')
  })

  it('offers the tools that --tools names, and refuses what it does not know before it serves', async () => {
    await terminal.belfry('schedule create a --every 1h --target null')
    const { stdout } = await terminal.belfry('mcp --tools routine,run_output --scope read', { stdin: sent(list, look) })
    const [, tools] = repliesIn(stdout)
    expect(tools?.result.tools?.map(({ name }) => name)).toEqual([
      'run_output',
      'routine_get',
      'routine_list',
      'routine_events',
    ])
    const { exit, stderr } = await terminal.belfry('mcp --tools everything')
    expect(exit).toBe(2)
    expect(stderr).toContain('"everything"')
  })

  it('hints at commands with its own store and scope, so that a person who follows them neither widens nor leaves it', async () => {
    await terminal.belfry('schedule create a --every 1h --target null --store sqlite:jobs.db')
    const absent = { method: 'tools/call', params: { name: 'routine_events', arguments: {} } }
    const beyond = { method: 'tools/call', params: { name: 'schedule_run', arguments: {} } }
    const noTool = { method: 'tools/call', params: { name: 'token_create', arguments: {} } }
    const flags = '--store sqlite:jobs.db --namespace team --read-only'
    const { stdout } = await terminal.belfry(`mcp ${flags}`, { stdin: sent(absent, beyond, noTool) })
    const [, ...replies] = repliesIn(stdout)
    const hints = replies.map(({ result }) => {
      return (JSON.parse(result.content?.[0]?.text ?? '') as { error: { hint: string } }).error.hint
    })
    const own = 'belfry --store sqlite:jobs.db --namespace team'
    expect(hints[0]).toContain(`${own} mcp --read-only --tools default,routine_events.`)
    expect(hints[1]).toContain(`${own} mcp --scope operate.`)
    expect(hints[2]).toContain(`${own} token create.`)
  })

  it('finds a store that comes later, without being started again', async () => {
    const stdin = new PassThrough()
    const replies: Reply[] = []
    const heard = new EventEmitter()
    const stdout = new PassThrough().on('data', (chunk) => {
      replies.push(...repliesIn(String(chunk)))
      heard.emit('reply')
    })
    const { folder } = terminal
    const world = { env: {}, folder, own: 'belfry', stdin, stdout, stderr: new PassThrough(), model: serveModel }
    const open = (opening: StoreOpening) => openSession(opening, { env: {}, folder })
    const served = mcp({}, { world: { ...world, open } as never, isJudged: false })
    const answered = async (text: string) => {
      const before = replies.length
      stdin.write(text)
      while (replies.length < before + text.split('\n').length - 1) await once(heard, 'reply')
      return replies.at(-1)?.result
    }
    expect(await answered(sent(look))).toMatchObject({ isError: true })
    await terminal.belfry('schedule create a --every 1h --target null')
    expect(await answered(sent(look))).toMatchObject({ content: [{ text: expect.stringContaining('"name":"a"') }] })
    stdin.end()
    expect(await served).toBe(0)
  })
})
