import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { deferred } from '../engine/stage.ts'

vi.mock('../../src/parts.ts', async (importOriginal) => {
  const { parts } = await importOriginal<typeof import('../../src/parts.ts')>()
  const { sample } = await import('./sample-part.ts')
  return { parts: [...parts, sample] }
})

const bell = (tone: string, times = 2) => ({ bell: { tone, times } })

async function withBelfry<Result>(
  work: (belfry: import('../../src/index.ts').Belfry) => Promise<Result>,
  store = 'memory:',
): Promise<Result> {
  const { Belfry } = await import('../../src/index.ts')
  const belfry = await Belfry.open({ store, log: false })
  try {
    return await work(belfry)
  } finally {
    await belfry.close()
  }
}

/** One record in a part, and nothing else is edited for it. */
describe('a kind of target that a part brings', () => {
  it('has flags at the command line, which read it, write it and name what is wrong with it', async () => {
    const { Terminal } = await import('../doors/cli/terminal.ts')
    const terminal = new Terminal()
    const made = await terminal.belfry('schedule create ring --every 1h --bell low --times 3')
    expect(made.stdout).toContain('Rings the low bell 3 times.')
    const { target } = JSON.parse((await terminal.belfry('schedule show ring --json')).stdout)
    expect(target).toEqual({ bell: { tone: 'low', times: 3 }, lane: 'low' })
    const wrong = await terminal.belfry('schedule create ring --every 1h --bell low --times often')
    expect(wrong.stderr).toContain('--times  is NaN')
    const rivals = await terminal.belfry('run enqueue --bell low --handler h')
    expect(rivals.stderr).toContain('exactly one of --command, --http, --handler, --agent, --inbox-session and --bell')
    expect((await terminal.belfry('run enqueue --times 3')).stderr).toContain('--bell TONE beside it')
    expect((await terminal.belfry('run enqueue --help')).stdout).toMatch(/1m for a bell/)
    const { commandLine } = await import('../../src/doors/cli/spelling/command-line.ts')
    const { nouns } = await import('../../src/table.ts')
    const typed = commandLine(nouns.run.operations.enqueue, { target: { bell: { tone: 'low', times: '3' } } } as never)
    expect(typed).toBe('belfry run enqueue --bell low --times 3')
    terminal.remove()
  })

  it('is written over HTTP by admins alone, because it starts programs, and is in OpenAPI', async () => {
    const { Porch } = await import('../doors/http/porch.ts')
    const porch = await Porch.open()
    const body = { name: 'ring', every: '1h', target: bell('low') }
    expect(await porch.problem('/api/schedules', { body, as: 'operate' })).toMatchObject({ status: 403 })
    expect(await porch.json('/api/schedules', { body })).toMatchObject({ inWords: expect.stringContaining('low bell') })
    const update = { method: 'PATCH', body: { payload: 1 }, as: 'operate' } as const
    expect((await porch.problem('/api/schedules/ring', update)).detail).toContain('Its target starts a program')
    const { openApi } = await import('../../src/doors/http/openapi.ts')
    const { components } = openApi('1') as { components: { schemas: Record<string, { anyOf: object[] }> } }
    expect(components.schemas.Target?.anyOf).toContainEqual(expect.objectContaining({ required: ['bell'] }))
    await porch.close()
  })

  it('is offered to models that may do anything, and to no others', async () => {
    const { toolsFor } = await import('../../src/doors/mcp/tools.ts')
    const told = (scope: 'operate' | 'admin') =>
      JSON.stringify(toolsFor(scope).find(({ name }) => name === 'schedule_create'))
    expect(told('admin')).toContain('a bell')
    expect(told('operate')).not.toContain('bell')
  })

  it('is executed by a worker that has the executor of its name, under a lease of its own length', async () => {
    const { rung } = await import('./sample-kinds.ts')
    const { systemClock } = await import('../../src/core/clock.ts')
    const gate = deferred()
    rung.until = gate.promise
    await withBelfry(async (belfry) => {
      await belfry.start()
      const { id } = await belfry.runs.enqueue({ target: bell('low') })
      const lasts = async () => ((await belfry.runs.get(id)).lease?.expiresAt ?? 0) - systemClock.now()
      await expect.poll(lasts).toBeGreaterThan(200_000)
      gate.resolve()
      expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', result: { value: { rung: 2 } } })
      expect((await belfry.workers.list())[0]?.can.kinds).toEqual([
        'command',
        'http',
        'rules',
        'looks',
        'bell/low',
        'hush',
      ])
    })
  })

  it('whose executor no worker has waits, and explain, doctor and plans say which one it waits for', async () => {
    await withBelfry(async (belfry) => {
      await belfry.start()
      const { id } = await belfry.runs.enqueue({ target: bell('high') })
      const told = await belfry.runs.explain(id)
      expect(told.sentence).toContain('none has the bell "high"')
      expect(told.sentence).toContain('the bell "low"')
      expect(told.unblock[0]?.what).toBe('Hang a high bell.')
      const { checks } = await belfry.store.doctor()
      expect(checks.find(({ check }) => check === 'no-worker')).toMatchObject({
        state: 'wrong',
        findings: [{ subject: 'high', says: expect.stringContaining('needs the bell "high"') }],
      })
      expect((await belfry.sched.lease('tower', { kinds: ['bell/low'] })).leases).toEqual([])
      expect((await belfry.sched.lease('tower', { kinds: ['bell/high'] })).leases).toMatchObject([{ runId: id }])
    })
  })

  it('is judged by itself, by what it can be expected to answer, and by whether it may send notifications', async () => {
    const { problemsIn } = await import('../operations/desk.ts')
    await withBelfry(async ({ runs, schedules }) => {
      const bad = { target: { bell: { times: 0.5 } }, expect: { exitCodes: [0] } } as never
      expect((await problemsIn(runs.enqueue(bad))).map(({ field }) => field)).toEqual([
        'target.bell.tone',
        'target.bell.times',
        'expect.exitCodes',
      ])
      const other = { target: { ...bell('low'), lane: 'high' } } as never
      expect(await problemsIn(runs.enqueue(other))).toMatchObject([{ field: 'target.lane' }])
      const told = { name: 'a', every: '1h', onFailure: bell('low') } as never
      expect(await problemsIn(schedules.create(told))).toMatchObject([
        { field: 'onFailure', problem: 'is a bell, which sends no notifications' },
      ])
    })
  })

  it('that starts programs needs trust in a file, and its secrets are named', async () => {
    const { programsOf } = await import('../../src/parts/config/programs.ts')
    const { kinds } = await import('../../src/kinds.ts')
    const { sections } = await import('../../src/table.ts')
    const document = { schedules: { a: { target: bell('low') } } }
    expect(programsOf(document, { kinds, sections }).programs).toMatchObject([
      { where: 'schedules.a.target', what: '{"tone":"low","times":2}' },
    ])
  })

  it('sends what a part writes of the payload of its run', async () => {
    const { openStore } = await import('../../src/open-store.ts')
    const { makeRun } = await import('./sample-part.ts')
    const folder = mkdtempSync(join(tmpdir(), 'belfry-kind-'))
    const url = `sqlite:${join(folder, 'belfry.db')}`
    const store = await openStore(url)
    const id = await store.do(makeRun, { command: ['cat'] }, 'milk')
    await store.close()
    await withBelfry(async (belfry) => {
      await belfry.start()
      await belfry.runs.wait(id)
      expect(JSON.stringify(await belfry.runs.output(id))).toContain(String.raw`{\"note\":\"milk\"}`)
    }, url)
    rmSync(folder, { recursive: true })
  })

  it('that only Belfry does is refused from every caller, and executed', async () => {
    const { problemsIn } = await import('../operations/desk.ts')
    const { openStore } = await import('../../src/open-store.ts')
    const { makeRun } = await import('./sample-part.ts')
    const folder = mkdtempSync(join(tmpdir(), 'belfry-kind-'))
    const url = `sqlite:${join(folder, 'belfry.db')}`
    const store = await openStore(url)
    const id = await store.do(makeRun, { hush: {} })
    await store.close()
    await withBelfry(async (belfry) => {
      const [problem] = await problemsIn(belfry.runs.enqueue({ target: { hush: {} } } as never))
      expect(problem).toMatchObject({ field: 'target.hush', problem: 'is done by Belfry alone' })
      expect(problem?.expected).toBe('one of command, http, handler, agent, inbox, bell')
      await belfry.start()
      expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed' })
    }, url)
    rmSync(folder, { recursive: true })
  })
})
