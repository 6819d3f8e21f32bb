import { describe, expect, it } from 'vitest'
import { Terminal } from '../../../doors/cli/terminal.ts'
import { onPorch } from '../../../doors/http/porch.ts'
import { call, modelAt } from '../../../doors/mcp/model.ts'
import { atDesk, problemsIn, verbsAt } from '../../../operations/desk.ts'

const guard = { handler: 'open?' }
const outside = expect.stringContaining('outside hosts execute it')

describe('a guard', () => {
  const desk = atDesk()
  const { schedules, runs, routines, config } = verbsAt(() => desk().context)

  it('on work without a target is refused, wherever it is written: outside hosts execute it', async () => {
    const problem = { field: 'when', problem: outside }
    expect(await problemsIn(schedules.create('s', { every: '1h', when: guard }))).toMatchObject([problem])
    expect(await problemsIn(schedules.put('s', { when: guard, until: guard, maxNoop: 3 }))).toMatchObject([
      problem,
      { field: 'until', problem: outside },
      { field: 'maxNoop', problem: outside },
    ])
    expect(await problemsIn(runs.enqueue({ target: null, when: guard }))).toMatchObject([problem])
    expect(await problemsIn(runs.enqueueMany([{ target: null, when: guard }]))).toMatchObject([
      { ...problem, field: 'runs[0].when' },
    ])
    const run = { target: null, when: guard }
    expect(await problemsIn(routines.create('r', { run }))).toMatchObject([{ ...problem, field: 'run.when' }])
    const file = { source: 'ops', schedules: { s: { every: '1h', when: guard } } }
    expect(await problemsIn(config.apply(file as never))).toMatchObject([{ ...problem, field: 'schedules.s.when' }])
  })

  it('keeps the target of its schedule: who takes the target away has to take the guard away too', async () => {
    const target = { handler: 'work' }
    await schedules.create('s', { every: '1h', target, when: guard, until: guard })
    expect(await problemsIn(schedules.update('s', { target: null }))).toMatchObject([
      { field: 'when', problem: outside },
      { field: 'until', problem: outside },
    ])
    const { schedule } = await schedules.update('s', { target: null, when: null, until: null })
    expect(schedule).not.toHaveProperty('when')
    expect(schedule).not.toHaveProperty('until')
  })

  it('is refused with everything that is wrong with it, at its place', async () => {
    const create = (when: unknown) => problemsIn(runs.enqueue({ target: { handler: 'work' }, when } as never))
    expect(await create(7)).toMatchObject([{ field: 'when' }])
    expect(await create({})).toMatchObject([{ field: 'when', problem: 'is empty' }])
    expect(await create({ comand: 'true' })).toMatchObject([
      { field: 'when.comand', expected: 'command, if that was meant' },
    ])
    expect(await create({ command: '', expect: { statuses: [200], noop: { exitCodes: [1] } } })).toMatchObject([
      { field: 'when.command' },
      { field: 'when.expect.statuses', problem: expect.stringContaining('command') },
      { field: 'when.expect.noop', problem: 'means nothing for a guard' },
    ])
    expect(await create({ http: { url: 'nowhere' }, handler: 'h' })).not.toEqual([])
    expect(await problemsIn(runs.enqueue({ target: { handler: 'work' }, until: guard } as never))).toMatchObject([
      { field: 'until' },
    ])
  })

  it('that counts runs without work needs a rule for them', async () => {
    const target = { handler: 'work' }
    expect(await problemsIn(schedules.create('s', { every: '1h', target, maxNoop: 3 }))).toMatchObject([
      { field: 'maxNoop', problem: 'means nothing without `expect.noop`' },
    ])
    const noop = { json: { items: [] } }
    await schedules.create('s', { every: '1h', target, maxNoop: 3, expect: { noop } })
    expect(await problemsIn(schedules.update('s', { expect: null }))).toMatchObject([{ field: 'maxNoop' }])
    await schedules.update('s', { expect: null, maxNoop: null })
  })

  it('of a model that may not start programs is refused, and nothing of it is stored', async () => {
    const model = await modelAt({ context: async () => desk().context, scope: 'operate' })
    const input = { target: { handler: 'work' }, when: { command: 'true' } }
    expect(await call(model, 'run_enqueue', input)).toMatchObject({ isError: true })
    expect((await runs.list({})).runs).toEqual([])
  })
})

describe('over HTTP', () => {
  const porch = onPorch()

  it('a guard that starts a program or sends a secret is for admins, and so is a schedule that has one', async () => {
    const target = { http: { url: 'https://example.org/' } }
    const secret = { http: { url: 'https://example.org/', headers: { authorization: { secret: 'KEY' } } } }
    for (const [field, strong] of [
      ['when', { command: 'true' }],
      ['until', { command: 'true' }],
      ['when', secret],
    ] as const) {
      const name = `of ${field}`
      const body = { name, every: '1h', target, [field]: strong }
      const refused = { code: 'not-allowed', details: { has: 'operate', needs: 'admin' } }
      expect(await porch().problem('/api/schedules', { body, as: 'operate' })).toMatchObject(refused)
      const run = { target, [field]: strong }
      if (field === 'when')
        expect(await porch().problem('/api/runs', { body: run, as: 'operate' })).toMatchObject(refused)
      await porch().json('/api/schedules', {
        method: 'POST',
        body: { ...body, name: `${name} ${JSON.stringify(strong).length}` },
      })
    }
    const change = { method: 'PATCH', body: { when: null, until: null, every: '2h' }, as: 'operate' } as const
    const path = `/api/schedules/${encodeURIComponent('of until 18')}`
    expect(await porch().problem(path, change)).toMatchObject({ code: 'not-allowed', details: { needs: 'admin' } })
    const mild = { name: 'mild', every: '1h', target, when: target }
    expect((await porch().ask('/api/schedules', { body: mild, as: 'operate' })).status).toBe(201)
  })
})

describe('at the terminal', () => {
  it('is a line for sh, JSON, or a file with it; and the refusal names the flag', async () => {
    const terminal = new Terminal()
    const create = (name: string, ...when: string[]) =>
      terminal.json<{ schedule: object }>(['schedule', 'create', name, '--every', '1h', '--handler', 'h', ...when])
    const line = 'gh run list --limit 1 | grep -q success'
    expect(await create('a', '--until', line)).toMatchObject({ schedule: { until: { command: line } } })
    const json = '{"http":{"url":"https://example.org/open"},"expect":{"json":{"open":true}}}'
    expect(await create('b', '--when', json)).toMatchObject({ schedule: { when: JSON.parse(json) } })
    terminal.write('guard.json', json)
    expect(await create('c', '--when', '@guard.json')).toMatchObject({ schedule: { when: JSON.parse(json) } })
    const words = ['schedule', 'create', 'd', '--every', '1h', '--target', 'null', '--when', 'true']
    const refused = await terminal.belfry(words)
    expect(refused.exit).toBe(2)
    expect(refused.stderr).toMatch(/--when +is given, and there is no target: outside hosts execute it/)
    const bad = await terminal.belfry(['run', 'enqueue', '--handler', 'h', '--when', '{"http":'])
    expect(bad.stderr).toMatch(/--when +is .*JSON/)
    const shown = await terminal.belfry('schedule show a')
    expect(shown.stdout).toContain(`Ends when a guard says yes: runs ${line} by sh -c.`)
    terminal.remove()
  })
})
