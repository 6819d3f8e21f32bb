import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { servePlanner } from '../../../src/parts/planner/desk/mcp-planner.ts'
import { scheduleNotes } from '../../../src/table.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { scriptOf } from './scene.ts'

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

async function opened(more: { autonomy?: 'act' | undefined } = { autonomy: 'act' }) {
  const belfry = verbsAt(() => desk().context)
  await belfry.schedules.put({ name: 'depth', every: '1h', target: { handler: 'queue' }, ...more } as never)
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

it('a connection that ends without submit_analysis is kept as unfinished, and explain tells of looks without a model', async () => {
  await opened({ autonomy: undefined })
  const belfry = verbsAt(() => ({ ...desk().context, scheduleNotes }))
  const parts = async () => (await belfry.schedules.explain('depth')).parts.flatMap(({ lines }) => lines)
  expect(await parts()).toEqual([])
  await talk([call('get_latest_response', {})])
  expect((await belfry.analyses.list())[0]).toMatchObject({ state: 'unfinished' })
  expect(await parts()).toEqual([
    'planner: autonomy off',
    expect.stringMatching(/^planner: looked .+: unfinished$/),
    'planner: does not look: off',
  ])
  await belfry.groups.create('checkout', { autonomy: 'act' })
  await belfry.schedules.update('depth', { group: 'checkout' })
  expect(await parts()).toContain('planner: does not look: no model is set')
})

it('each call of a connection is kept when it is answered: its process may be killed at any moment', async () => {
  const belfry = await opened()
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const served = servePlanner('depth', {
    context: desk().context,
    stdin: stdin as never,
    stdout: stdout as never,
  })
  const answered = once(stdout, 'data')
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...call('propose_interval', { intervalMs: 30_000 }) })}\n`)
  await answered
  const [line] = await belfry.analyses.list()
  const { state, calls } = await belfry.analyses.get(line?.id ?? '')
  expect({ state, calls }).toMatchObject({ state: 'running', calls: [{ tool: 'propose_interval' }] })
  stdin.end()
  await served
})

it('planner pause --clear-hints works without a model: what agents steered ends, and none of them steers again', async () => {
  const belfry = await opened()
  await talk([call('propose_interval', { intervalMs: 30_000 }), call('submit_analysis', { reasoning: 'busy' })])
  await belfry.schedules.put({ name: 'other', every: '1h', target: { handler: 'queue' } })
  const agent = { ...desk().context, actor: { name: 'claude', door: 'mcp' } } as const
  const theirs = verbsAt(() => agent)
  await theirs.schedules.pause('other', { until: new Date(desk().clock.now() + 1_800_000).toISOString() })
  expect(await belfry.planner.pause({ clearHints: true })).toEqual({ cleared: 2 })
  expect((await belfry.schedules.hints('depth')).filter(({ ended }) => ended === null)).toEqual([])
  expect((await belfry.schedules.get('other')).paused).toBeNull()
  expect(await belfry.planner.status()).toMatchObject({ provider: null, paused: { by: 'tester' } })
  const answers = await talk([call('propose_interval', { intervalMs: 40_000 })])
  expect(JSON.stringify(answers.get(1))).toContain('planners are paused')
  // A model that is set while planners are paused stays paused.
  await belfry.planner.set({ provider: 'scripted', model: 'demo', script: scriptOf([]) })
  expect(await belfry.planner.status()).toMatchObject({ provider: 'scripted', paused: { by: 'tester' } })
  await belfry.planner.resume()
  const resumed = await talk([call('propose_interval', { intervalMs: 40_000 })])
  expect(JSON.stringify(resumed.get(1))).toContain('\\"ok\\":true')
})
