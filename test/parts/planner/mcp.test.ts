import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { servePlanner } from '../../../src/parts/planner/desk/mcp-planner.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()

/** Sends requests to the server of a planner, closes the pipe, and returns the answers by id. */
async function talk(requests: readonly { method: string; params?: object }[]) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  let said = ''
  stdout.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const hello = {
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  }
  for (const [id, request] of [hello, ...requests].entries())
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...request })}\n`)
  stdin.end()
  const { context } = desk()
  await servePlanner('depth', { context, stdin: stdin as never, stdout: stdout as never })
  const answers = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: never })
  return new Map(answers.map(({ id, result }) => [id, result]))
}

async function opened() {
  const belfry = verbsAt(() => desk().context)
  await belfry.schedules.put({ name: 'depth', every: '1h', target: { handler: 'queue' }, autonomy: 'act' })
  return belfry
}

const call = (name: string, args: object) => ({ method: 'tools/call', params: { name, arguments: args } })

it('your own agent is the planner of one schedule, with eight tools and nothing else', async () => {
  const belfry = await opened()
  const answers = await talk([
    { method: 'tools/list' },
    call('propose_interval', { intervalMs: 30_000, reason: 'busy' }),
    call('schedule_delete', { name: 'depth' }),
    call('submit_analysis', { reasoning: 'busy' }),
  ])
  const { tools } = answers.get(1) as unknown as { tools: { name: string }[] }
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'clear_hints',
    'get_latest_response',
    'get_response_history',
    'get_sibling_latest_responses',
    'pause_until',
    'propose_interval',
    'propose_next_time',
    'submit_analysis',
  ])
  expect(answers.get(3)).toMatchObject({ isError: true })
  expect(await belfry.schedules.hints('depth')).toMatchObject([{ value: 30_000, by: 'planner', reason: 'busy' }])
  expect((await belfry.analyses.list())[0]).toMatchObject({ state: 'completed', reasoning: 'busy' })
})

it('a connection that ends without submit_analysis is kept as unfinished', async () => {
  const belfry = await opened()
  await talk([call('get_latest_response', {})])
  expect((await belfry.analyses.list())[0]).toMatchObject({ state: 'unfinished' })
})
