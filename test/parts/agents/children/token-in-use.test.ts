import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { contextInRun, passOn } from '../../../../src/doors/mcp/in-run.ts'
import { call, factsOf, modelAt } from '../../../doors/mcp/model.ts'
import { Desk } from '../../../operations/desk.ts'
import { playAgents, type Scene, standIn } from '../scene.ts'
import { atWork } from './scene.ts'

interface Called {
  readonly called: string
  readonly isError?: boolean
  readonly text: string
}

function callsOf({ folder }: Scene): Called[] {
  const lines = readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Called).filter(({ called }) => called !== undefined)
}

describe.each(['SQLite', 'PostgreSQL'] as const)('an agent at work, with the token of its run (%s)', (kind) => {
  it('plans its next look at the real server; its token is in no output and no file, and is refused afterwards', async () => {
    const scene = await playAgents({}, kind)
    const { belfry, folder } = scene
    await belfry.config.apply({
      source: 'self',
      agents: { me: { extends: 'claude', program: standIn('claude'), mayUse: 'self' } },
    })
    const { url } = await belfry.serve({ listen: '127.0.0.1:0' })
    const calls = [
      { name: 'schedule_wakeup', arguments: { delaySeconds: 5, reason: 'It takes long.', prompt: 'Look again.' } },
      { name: 'task_progress', arguments: { says: 'Half way.' } },
      { name: 'cron_list', arguments: {} },
      { name: 'hold_go', arguments: {} },
      { name: 'schedule_list', arguments: {} },
    ]
    const { env } = scene.target('me', 'blab')
    const task = { agent: 'me', prompt: 'Is it healthy?', env: { ...env, STAND_IN_CALL: JSON.stringify(calls) } }
    const { task: made } = await belfry.tasks.create({ ...task, every: '1h', cwd: folder })
    await belfry.start()
    const { id } = await belfry.tasks.run(made.id)
    const run = await belfry.runs.wait(id)
    expect(run.status).toBe('completed')
    const [woken, noted, listed, ...others] = callsOf(scene)
    expect(JSON.parse(woken?.text ?? '')).toMatchObject({ clamped: true, id: expect.stringMatching(/^[0-9a-f]{8}$/) })
    expect([noted, listed, ...others].map((each) => each?.isError ?? false)).toEqual([false, false, true, true])
    expect(await belfry.tasks.list()).toMatchObject([{ id: made.id }, { by: 'agent', author: `agent ${id}`, run: id }])
    const [started] = scene.starts()
    const token = started?.env.BELFRY_TOKEN ?? ''
    expect(started?.env.BELFRY_SERVER).toBe(url)
    const { text = '' } = (await belfry.runs.output(id)) ?? {}
    expect(text).toContain('[progress: Half way.]')
    expect(text).toMatch(/My token is \S+/)
    expect(text).not.toContain(token)
    const stored = readdirSync(folder).filter((name) => name.startsWith('belfry.db'))
    for (const name of stored) expect(readFileSync(join(folder, name)).includes(token.slice(-64)), name).toBe(false)
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    })
    expect(answer.status).toBe(401)
  })
})

it('belfry mcp in a run serves the tools of the run, and refuses them once it has ended', async () => {
  const desk = await Desk.open()
  const { token, end } = await atWork(desk)
  const context = () => contextInRun(desk.context, token)
  const model = await modelAt({ context, scope: 'operate', isInRun: true })
  const { tools } = await model.listTools()
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'cron_create',
    'cron_delete',
    'cron_list',
    'inbox_done',
    'inbox_next',
    'loop',
    'schedule_wakeup',
    'task_progress',
  ])
  expect(factsOf(await call(model, 'cron_create', { in: '20m', prompt: 'Look.' }))).toMatchObject({ answer: 'created' })
  await end()
  expect(factsOf(await call(model, 'cron_list'))).toMatchObject({ error: { code: 'unauthenticated' } })
  await desk.store.close()
})

it('belfry mcp in a run passes requests on to the server that the run knows', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const passing = passOn({ url: 'http://127.0.0.1:1/mcp', token: 'x', stdin: stdin as never, stdout: stdout as never })
  stdin.end('{"jsonrpc":"2.0","id":7,"method":"tools/list"}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  await passing
  expect(JSON.parse(String(stdout.read()))).toMatchObject({
    id: 7,
    error: { message: expect.stringContaining('did not answer') },
  })
})
