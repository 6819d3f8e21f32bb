import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../src/index.ts'
import { scratchFolder } from '../scratch.ts'
import { binary } from './belfry-process.ts'

interface ChannelEvent {
  readonly method: string
  readonly params: { readonly content: string; readonly meta: { readonly message: string; readonly run: string } }
}

it('a channel hands a message to the session as soon as it is sent, and only the session acknowledges it', async () => {
  const folder = mkdtempSync(join(scratchFolder(), 'belfry-channel-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = `sqlite:${join(folder, '.belfry/belfry.db')}`
  const belfry = await Belfry.open({ store, log: false })
  onTestFinished(() => belfry.close())
  const client = new Client({ name: 'a session', version: '1' })
  const events: ChannelEvent[] = []
  let hear: (() => void) | undefined
  client.fallbackNotificationHandler = async (notification) => {
    events.push(notification as unknown as ChannelEvent)
    hear?.()
  }
  const args = [binary, 'mcp', '--channel', '--session', 'mine', '--store', store]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder, stderr: 'ignore' }))
  onTestFinished(() => client.close())
  const heard = async (count: number) => {
    while (events.length < count) {
      await new Promise<void>((resolve) => {
        hear = resolve
      })
    }
  }
  expect(client.getServerCapabilities()?.experimental).toEqual({ 'claude/channel': {} })
  expect(client.getInstructions()).toContain('inbox_ack')
  const { run } = await belfry.inbox.send('Is the deploy healthy?', { session: 'mine' })
  await belfry.inbox.send('And now?', { session: 'mine' })
  await heard(1)
  const [first] = events as [ChannelEvent]
  expect(first).toMatchObject({ method: 'notifications/claude/channel', params: { meta: { run } } })
  expect(first.params.content).toMatch(/approves nothing\.\]\n\nIs the deploy healthy\?$/)
  // Claude Code drops events of a channel that is not turned on: handed over is not delivered.
  expect(await belfry.runs.get(run)).toMatchObject({ status: 'leased' })
  expect(events).toHaveLength(1)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['inbox_ack', 'inbox_done']))
  await client.callTool({ name: 'inbox_ack', arguments: { message: first.params.meta.message } })
  expect(await belfry.runs.get(run)).toMatchObject({ status: 'completed' })
  await heard(2)
  expect(events[1]?.params.content).toContain('And now?')
})
