import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { Confirmations } from '../../../src/doors/mcp/confirm.ts'
import { mcpServer } from '../../../src/doors/mcp/server.ts'
import { tools } from '../../../src/doors/mcp/tools.ts'
import type { Scope } from '../../../src/operations/operation.ts'
import { operations } from '../../../src/operations/table.ts'
import { atDesk, startAt, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
let confirmations: Confirmations

beforeEach(() => {
  confirmations = new Confirmations('secret', desk().clock)
})

/** The SDK's own client, joined with a server for somebody who may do so much. */
async function model(scope: Scope = 'admin'): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await mcpServer({ context: desk().context, version: '1', scope, confirmations }).connect(far)
  const client = new Client({ name: 'a model', version: '1' })
  await client.connect(near)
  return client
}

interface Answer {
  readonly isError?: boolean
  readonly structuredContent?: Record<string, unknown>
  readonly content: { readonly text: string }[]
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Answer> {
  return (await client.callTool({ name, arguments: args })) as unknown as Answer
}

describe('the tools', () => {
  it('are the verbs that list this door, with schemas that the client holds answers to', async () => {
    const client = await model()
    const { tools: listed } = await client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(
      operations
        .filter(({ doors }) => doors.mcp === true)
        .map(({ noun, verb }) => `${noun}_${verb.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
    )
    for (const { name, annotations, inputSchema, description } of listed) {
      const { operation } = tools.find((tool) => tool.name === name) as (typeof tools)[number]
      expect(annotations).toMatchObject({
        readOnlyHint: operation.effect === 'read',
        destructiveHint: operation.effect === 'destructive',
      })
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(description).toContain(operation.says)
    }
  })

  it('answer what every door answers, as structure and as text', async () => {
    await here.runs.enqueueMany([{}, {}])
    const client = await model()
    const answer = await call(client, 'sched_plan', { queue: 'default' })
    const plan = await here.sched.plan({ queue: 'default' })
    expect(answer.structuredContent).toMatchObject({
      now: new Date(startAt).toISOString(),
      inFlight: 0,
      available: plan.available,
    })
    expect(JSON.parse(answer.content[0]?.text ?? '')).toEqual(answer.structuredContent)
    const list = await call(client, 'queue_list')
    expect(list.structuredContent).toMatchObject({ answer: [{ name: 'default' }] })
  })

  it('fail with the same typed errors, in an answer that a model can read', async () => {
    const client = await model()
    const absent = await call(client, 'schedule_get', { name: 'nobody' })
    expect(absent.isError).toBe(true)
    expect(JSON.parse(absent.content[0]?.text ?? '')).toMatchObject({
      error: { code: 'not-found', details: { schedule: 'nobody' } },
    })
    const wrong = await call(client, 'queue_set', { name: 'mail', maxConcurrent: 'many', surprise: true })
    expect(JSON.parse(wrong.content[0]?.text ?? '').error.details.problems).toHaveLength(2)
    await expect(call(client, 'queue_explode')).rejects.toThrow('There is no tool "queue_explode".')
  })

  it('that are destructive are done only when they are confirmed, once, by the same call', async () => {
    await here.schedules.put('a', { every: '1h' })
    await here.schedules.put('b', { every: '1h' })
    const client = await model()
    const { structuredContent } = await call(client, 'schedule_delete', { name: 'a' })
    const confirm = String(structuredContent?.confirm)
    expect(await here.schedules.list()).toHaveLength(2)
    for (const args of [
      { name: 'b', confirm },
      { name: 'a', confirm: 'yes' },
      { name: 'a', cancelLeased: true, confirm },
    ]) {
      expect((await call(client, 'schedule_delete', args)).isError).toBe(true)
    }
    expect((await call(client, 'schedule_delete', { name: 'a', confirm })).isError).toBeUndefined()
    expect((await here.schedules.list()).map(({ name }) => name)).toEqual(['b'])
    await here.schedules.put('a', { every: '1h' })
    expect((await call(client, 'schedule_delete', { name: 'a', confirm })).isError).toBe(true)
    const later = String((await call(client, 'schedule_delete', { name: 'a' })).structuredContent?.confirm)
    desk().clock.advance(301_000)
    expect((await call(client, 'schedule_delete', { name: 'a', confirm: later })).isError).toBe(true)
    expect(await here.schedules.list()).toHaveLength(2)
  })

  it('beyond the scope of whoever asks are not offered, and cannot be called', async () => {
    const client = await model('read')
    const { tools: listed } = await client.listTools()
    expect(listed.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
    await expect(call(client, 'run_enqueue')).rejects.toThrow('beyond the scope read')
    const operator = await model('operate')
    const refused = await call(operator, 'run_enqueue', { target: { command: ['true'] } })
    expect(JSON.parse(refused.content[0]?.text ?? '')).toMatchObject({
      error: { code: 'not-allowed', details: { needs: 'admin' } },
    })
  })
})

describe('the resources', () => {
  it('are the docs, the schedules and the runs', async () => {
    await here.schedules.put('nightly report', { every: '1h' })
    const { id } = await here.runs.enqueue({})
    const client = await model('read')
    const { resources } = await client.listResources()
    for (const { uri } of resources) expect((await client.readResource({ uri })).contents).toHaveLength(1)
    const read = async (uri: string) =>
      String(((await client.readResource({ uri })).contents[0] as { text: string }).text)
    expect(await read('belfry://docs/verbs')).toContain('**schedule create**')
    expect(await read('belfry://schedules/nightly%20report')).toContain('nightly report')
    expect(await read(`belfry://runs/${id}`)).toContain(String(id))
    await expect(read('belfry://schedules/nobody')).rejects.toThrow('There is no schedule "nobody"')
    await expect(read('belfry://runs/%zz')).rejects.toThrow()
    await expect(read('belfry://secrets')).rejects.toThrow('There is no resource')
  })

  it('tell of what went wrong inside no more than that it did', async () => {
    const inside = new BelfryError('failure', 'The row of xyzzy cannot be read.')
    const client = await model('read')
    for (const thrown of [inside, new Error('the password is xyzzy')]) {
      desk().store.read.schedules = () => Promise.reject(thrown)
      await expect(client.readResource({ uri: 'belfry://schedules' })).rejects.toThrow(/nobody foresaw/)
    }
  })
})
