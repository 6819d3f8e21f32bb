import { beforeEach, describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { Confirmations } from '../../../src/doors/mcp/confirmations.ts'
import { toolsFor } from '../../../src/doors/mcp/tools.ts'
import type { Scope } from '../../../src/operations/caller-scope.ts'
import { operations } from '../../../src/table.ts'
import { atDesk, startAt, verbsAt } from '../../operations/desk.ts'
import { call, factsOf, modelAt, wholeOf } from './model.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
let confirmations: Confirmations

beforeEach(() => {
  confirmations = new Confirmations('secret', desk().clock)
})

const model = (scope: Scope = 'admin', tools = 'all') =>
  modelAt({ context: async () => desk().context, scope, tools, confirmations })

describe('the tools', () => {
  it('an agent with operate may not change the payload of a stored request that carries a secret', async () => {
    const target = { http: { url: 'https://example.org/', headers: { authorization: { secret: 'KEY' } } } }
    await here.schedules.put('pay', { every: '1h', target, payload: { pay: 'ada' } })
    const actor = { name: 'agent', door: 'mcp' } as const
    const client = await modelAt({ context: async () => ({ ...desk().context, actor }), scope: 'operate' })
    const payload = { pay: 'mallory' }
    for (const tool of ['schedule_update', 'schedule_run']) {
      const refused = await call(client, tool, { name: 'pay', payload, detail: 'full' })
      expect(wholeOf(refused), tool).toMatchObject({
        error: { code: 'not-allowed', message: expect.stringMatching(/this server has the scope operate\.$/) },
      })
      expect(refused.content[0]?.text, 'at pipes there is no token').not.toContain('token')
    }
    expect((await call(client, 'schedule_run', { name: 'pay' })).isError ?? false).toBe(false)
  })

  it('are the verbs that list this door, and say whether they change or end anything', async () => {
    const client = await model()
    const { tools: listed } = await client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(
      operations
        .filter(({ doors }) => doors.mcp === true)
        .map(
          ({ noun, verb, tool }) =>
            tool?.name ?? `${noun}_${verb.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
        ),
    )
    for (const { name, annotations = {}, inputSchema } of listed) {
      const { operation } = toolsFor('admin').find((tool) => tool.name === name) as ReturnType<typeof toolsFor>[number]
      // The protocol takes a tool that says nothing for one that changes and destroys.
      expect(annotations.readOnlyHint ?? false).toBe(operation.effect === 'read')
      const isDestructive = operation.effect === 'destructive'
      if (operation.effect !== 'read') expect(annotations.destructiveHint ?? true).toBe(isDestructive)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    }
  })

  it('answer what every door answers, once, as text', async () => {
    await here.runs.enqueueMany([{ target: null }, { target: null }])
    const client = await model()
    const answer = await call(client, 'sched_plan', { queue: 'default', detail: 'full' })
    const plan = await here.sched.plan({ queue: 'default' })
    expect(factsOf(answer)).toMatchObject({
      now: new Date(startAt).toISOString().replace('.000', ''),
      inFlight: 0,
      available: plan.available,
    })
    expect(answer.structuredContent).toBeUndefined()
    expect(factsOf(await call(client, 'queue_list'))).toMatchObject([{ name: 'default' }])
  })

  it('answer in short what was asked for, an empty list included, and leave out what only detail full has', async () => {
    const client = await model()
    expect(factsOf(await call(client, 'run_list'))).toEqual({ runs: [] })
    expect(factsOf(await call(client, 'schedule_list'))).toEqual([])
    await here.schedules.put('nightly', { every: '1h', target: { handler: 'report' } })
    const short = factsOf(await call(client, 'schedule_get', { name: 'nightly' }))
    expect(short).toMatchObject({ name: 'nightly', every: '1h', nextDueAt: '2026-01-05T10:00:00Z' })
    expect(short).not.toHaveProperty('nextDecision')
    const full = factsOf(await call(client, 'schedule_get', { name: 'nightly', detail: 'full' }))
    expect(full).toMatchObject({ everyMs: 3_600_000, nextDecision: expect.anything(), deletedAt: null })
    expect(wholeOf(await call(client, 'schedule_explain', { name: 'nightly' }))).toMatchObject({
      schedule: 'nightly',
      code: expect.any(String),
      sentence: expect.stringMatching(/\S/),
      next: { at: '2026-01-05T10:00:00Z' },
    })
    const { ok, checks } = wholeOf(await call(client, 'store_doctor')) as { ok: boolean; checks: { state: string }[] }
    expect(ok).toBe(false)
    expect(checks.every(({ state }) => state !== 'ok')).toBe(true)
    expect(JSON.stringify(checks)).toContain('belfry up')
  })

  it('fail with the same typed errors, in an answer that a model can read', async () => {
    const client = await model()
    const absent = await call(client, 'schedule_get', { name: 'nobody', detail: 'full' })
    expect(absent.isError).toBe(true)
    expect(wholeOf(absent)).toMatchObject({ error: { code: 'not-found' }, details: { schedule: 'nobody' } })
    const wrong = await call(client, 'queue_set', { name: 'mail', maxConcurrent: 'many', surprise: true })
    expect(wrong.content).toHaveLength(1)
    expect(wrong.content[0]?.text).toMatch(/maxConcurrent .+surprise /)
    const strange = await call(client, 'queue_set', { name: 'mail', surprise: true, detail: 'all', confirm: 'x' })
    for (const field of ['surprise', 'detail', 'confirm']) expect(strange.content[0]?.text).toContain(`${field} is`)
  })

  it('name tools in place of commands where the model has them, and leave other commands to people', async () => {
    await here.schedules.put('a', { every: '1h', target: null })
    const hintOf = async (tools: string, tool: string, args: Record<string, unknown>) =>
      (factsOf(await call(await model('admin', tools), tool, args)).error as { hint: string }).hint
    expect(await hintOf('default', 'schedule_get', { name: 'xyzzy' })).toBe('List schedules with `schedule_list`.')
    expect(await hintOf('schedule_get', 'schedule_get', { name: 'xyzzy' })).toContain('`belfry schedule list`')
    const { id } = await here.runs.enqueue({ target: null })
    expect(await hintOf('all', 'sched_reset', { ids: [id] })).toContain('`run_list {"status":"parked"}`')
    expect(await hintOf('all', 'schedule_create', { name: 'a', every: '2h' })).toContain('`schedule_put`')
    const client = await model('read', 'default')
    await expect(client.readResource({ uri: 'belfry://schedules/xyzzy' })).rejects.toThrow(/with `schedule_list`/)
  })

  it('leave a name that reads like a command as it is', async () => {
    await here.schedules.put('belfry schedule list', { every: '1h', target: null })
    const refused = await call(await model(), 'schedule_get', { name: 'belfry schedule lisd' })
    expect(wholeOf(refused)).toMatchObject({ error: { hint: 'Did you mean "belfry schedule list"?' } })
  })

  it('refuse nothing without a hint', async () => {
    await here.schedules.put('a', { every: '1h' })
    await here.runs.enqueue({ target: null, idempotencyKey: 'k' })
    const operator = await model('operate')
    const refusals: [string, Record<string, unknown>][] = [
      ['schedule_get', { name: 'nobody' }],
      ['schedule_put', { name: 'b', cron: 'nonsense' }],
      ['schedule_put', { name: 'b', target: { command: ['true'] } }],
      ['schedule_create', { name: 'a', every: '2h' }],
      ['schedule_delete', { name: 'a', confirm: 'x' }],
      ['schedule_list', { limit: -1 }],
      ['run_get', { id: 'r-zzzz' }],
      ['run_enqueue', { target: null, idempotencyKey: 'k', payload: 1 }],
      ['sched_lease', { host: 'h', handlers: ['report'] }],
      ['sched_complete', { lease: 'r-1.1.x' }],
    ]
    for (const [name, args] of refusals) {
      const answer = await call(operator, name, args)
      expect(answer.isError, name).toBe(true)
      const { error } = factsOf(answer) as { error: { message: string; hint: string } }
      expect(error.hint, `${name}: ${error.message}`).toMatch(/^[A-Z].+[.?]$/)
    }
    const few = await model('operate', 'default')
    await expect(few.readResource({ uri: 'belfry://secrets' })).rejects.toThrow(/resources\/list/)
    await expect(few.readResource({ uri: 'belfry://schedules/nobody' })).rejects.toThrow(
      /There is no schedule.+\. .+\./,
    )
  })

  it('that are destructive are done only when they are confirmed, once, by the same call', async () => {
    await here.schedules.put('a', { every: '1h' })
    await here.schedules.put('b', { every: '1h' })
    const client = await model()
    const confirm = String(factsOf(await call(client, 'schedule_delete', { name: 'a' })).confirm)
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
    const later = String(factsOf(await call(client, 'schedule_delete', { name: 'a' })).confirm)
    desk().clock.advance(301_000)
    expect((await call(client, 'schedule_delete', { name: 'a', confirm: later })).isError).toBe(true)
    expect(await here.schedules.list()).toHaveLength(2)
  })

  it('that are destructive and cannot be done are refused before they are confirmed, and nothing is done by asking', async () => {
    await here.schedules.put('nightly', { every: '1h', target: null, queue: 'used' })
    await here.queues.set('free', { maxConcurrent: 2 })
    await here.routines.create({ name: 'push', run: { target: null } })
    const { id } = await here.runs.enqueue({ target: null })
    const client = await model()
    const inVain: [string, Record<string, unknown>, string][] = [
      ['schedule_delete', { name: 'xyzzy' }, 'not-found'],
      ['routine_delete', { name: 'xyzzy' }, 'not-found'],
      ['queue_delete', { name: 'xyzzy' }, 'not-found'],
      ['queue_delete', { name: 'used' }, 'conflict'],
      ['run_cancel', { id: 'r-15' }, 'not-found'],
    ]
    for (const [tool, args, code] of inVain) {
      expect(factsOf(await call(client, tool, args)), tool).toMatchObject({ error: { code } })
    }
    const able: [string, Record<string, unknown>][] = [
      ['schedule_delete', { name: 'nightly' }],
      ['routine_delete', { name: 'push' }],
      ['queue_delete', { name: 'free' }],
      ['run_cancel', { id }],
    ]
    for (const [tool, args] of able) {
      expect(factsOf(await call(client, tool, args)), tool).toMatchObject({ confirm: expect.any(String) })
    }
    expect(await here.schedules.list()).toMatchObject([{ name: 'nightly' }])
    expect(await here.routines.list()).toMatchObject([{ name: 'push' }])
    expect((await here.queues.list()).map(({ name }) => name)).toContain('free')
    expect(await here.runs.get(id)).toMatchObject({ status: 'ready' })
  })

  it('beyond the scope of the caller are not offered, and cannot be called', async () => {
    const client = await model('read')
    const { tools: listed } = await client.listTools()
    expect(listed.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
    expect((await call(client, 'run_enqueue', { target: null })).isError).toBe(true)
    expect((await here.runs.list()).runs).toEqual([])
    const operator = await model('operate')
    const refused = await call(operator, 'run_enqueue', { target: { command: ['true'] }, detail: 'full' })
    expect(wholeOf(refused)).toMatchObject({ error: { code: 'not-allowed' }, details: { needs: 'admin' } })
  })
})

describe('the resources', () => {
  it('are the docs, the schedules and the runs', async () => {
    await here.schedules.put('nightly report', { every: '1h' })
    const { id } = await here.runs.enqueue({ target: null })
    const client = await model('read')
    const { resources } = await client.listResources()
    for (const { uri } of resources) expect((await client.readResource({ uri })).contents).toHaveLength(1)
    const read = async (uri: string) =>
      String(((await client.readResource({ uri })).contents[0] as { text: string }).text)
    const page = resources.find(({ uri }) => uri === 'belfry://docs/scheduling')
    expect(page).toMatchObject({
      title: 'How scheduling works',
      annotations: { priority: 0.9, lastModified: expect.stringMatching(/^20\d\d-/) },
    })
    expect(await read('belfry://docs/scheduling')).toMatch(/^# How scheduling works\n/)
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
      desk().store.look = () => Promise.reject(thrown)
      await expect(client.readResource({ uri: 'belfry://schedules' })).rejects.toThrow(/unexpected error/)
    }
  })
})
