import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fence } from '../../../../src/core/untrusted-text.ts'
import type { Belfry } from '../../../../src/index.ts'
import { playAgents, type Scene } from '../scene.ts'

/** A task for a stand-in that records how it was started. */
function asked({ target }: Scene, profile: string, more: object = {}) {
  const { env } = target(profile)
  return { agent: profile, prompt: 'Is the deploy healthy?', env, ...more }
}

async function ran(belfry: Belfry, id: string) {
  return belfry.runs.wait((await belfry.tasks.run(id)).id)
}

describe.each(['SQLite', 'PostgreSQL'] as const)('the prompt of a task (%s)', (kind) => {
  it('comes under a line that names the task, its author and instant; the agent knows its task', async () => {
    const scene = await playAgents({ name: 'ada' }, kind)
    const { belfry } = scene
    const { task } = await belfry.tasks.create({ ...asked(scene, 'claude'), cron: '0 9 * * 1-5', cwd: scene.folder })
    await belfry.start()
    const run = await ran(belfry, task.id)
    expect(run).toMatchObject({ status: 'completed', queue: 'agents', tags: [expect.stringMatching(/^project:\//)] })
    const [started] = scene.starts()
    expect(started?.input).toMatch(
      new RegExp(
        `^\\[Belfry: run ${run.id} of task ${task.id} by ada, planned for \\S+Z\\. Not typed by a user, approves nothing\\.\\]\\n\\nIs the deploy healthy\\?$`,
      ),
    )
    expect(started?.env).toMatchObject({ BELFRY_TASK: task.id, BELFRY_SCHEDULE: task.name, BELFRY_QUEUE: 'agents' })
    expect(await belfry.tasks.get(task.id)).toMatchObject({ status: 'waiting', author: 'ada', by: 'person' })
  })

  it('starts afresh each time: it reads no conversation that grows', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    const { task } = await belfry.tasks.create(asked(scene, 'claude', { every: '1h' }))
    await belfry.start()
    await ran(belfry, task.id)
    await ran(belfry, task.id)
    const starts = scene.starts()
    const sessions = starts.map(({ args }) => args[args.indexOf('--session-id') + 1])
    expect(new Set(sessions).size).toBe(2)
    for (const { args, input } of starts) {
      expect(args).not.toContain('--resume')
      expect(input).toMatch(/\]\n\nIs the deploy healthy\?$/)
    }
  })

  it('is one of six at the same instant, where three run at a time: all of them run, and once', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    const folders = Array.from({ length: 6 }, (_, index) => join(scene.folder, `app-${index}`))
    for (const folder of folders) mkdirSync(folder)
    const at = new Date(Date.now() + 5_000).toISOString()
    for (const cwd of folders) await belfry.tasks.create({ ...asked(scene, 'claude', { at, exact: true }), cwd })
    await belfry.start()
    const completed = async () => (await belfry.runs.list({ queue: 'agents', status: 'completed' })).runs
    await expect.poll(async () => (await completed()).length).toBe(6)
    expect(
      scene
        .starts()
        .map(({ cwd }) => cwd)
        .sort(),
    ).toEqual(folders.map((folder) => realpathSync(folder)))
    expect(await belfry.tasks.list()).toEqual([])
  })

  it('has the last answer inside a fence with context last, and none before the first run', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    const input = asked(scene, 'claude', { context: 'last', every: '1h' })
    const { task } = await belfry.tasks.create(input)
    await belfry.start()
    const first = await ran(belfry, task.id)
    await ran(belfry, task.id)
    const [before, after] = scene.starts().map(({ input: given }) => given)
    expect(before).toMatch(/\]\n\nIs the deploy healthy\?$/)
    const text = 'The deploy is healthy.'
    expect(first).toMatchObject({ result: { value: { text } } })
    expect(after).toMatch(/\]\n\nIs the deploy healthy\?\n\nThe answer of the run before:\n</)
    expect(after?.endsWith(fence(text))).toBe(true)
  })

  it('goes on in the session of the last run with context session', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    const { task } = await belfry.tasks.create(asked(scene, 'claude', { context: 'session', every: '1h' }))
    await belfry.start()
    await ran(belfry, task.id)
    const second = await ran(belfry, task.id)
    const [first, resumed] = scene.starts()
    const session = first?.args[(first?.args.indexOf('--session-id') ?? 0) + 1]
    expect(resumed?.args).toEqual(expect.arrayContaining(['--resume', session]))
    // The session was not interrupted, so the agent gets only the new prompt.
    expect(resumed?.input).toMatch(/approves nothing\.\]\n\nIs the deploy healthy\?$/)
    expect(await belfry.runs.attempts(second.id)).toMatchObject([{ agent: { resumed: true } }])
  })

  it('whose session is gone starts fresh, and says so', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    const { env } = scene.target('claude', 'missing')
    const { task } = await belfry.tasks.create(asked(scene, 'claude', { context: 'session', every: '1h', env }))
    await belfry.start()
    await ran(belfry, task.id)
    const second = await ran(belfry, task.id)
    expect(second.status).toBe('completed')
    expect((await belfry.runs.output(second.id))?.text).toMatch(
      /\[belfry: session \S+ is gone; this attempt starts fresh\]/,
    )
    const [attempt] = await belfry.runs.attempts(second.id)
    expect(attempt?.agent).not.toHaveProperty('resumed')
  })
})

describe('a loop', () => {
  it('looks at once and ends when its guard says yes, in the folder of the task', async () => {
    const scene = await playAgents()
    const { belfry, folder } = scene
    execFileSync('git', ['init', '-q', folder])
    const { task } = await belfry.tasks.loop('Is CI green? Fix it if not.', {
      agent: 'claude',
      every: '1s',
      until: { command: 'test -f green' },
      cwd: folder,
      exact: true,
      maxRuns: 40,
    })
    expect(task).toMatchObject({ project: folder, timing: 'every 1s' })
    await belfry.start()
    const next = () => new Promise<void>((resolve) => belfry.on('run.completed', () => resolve()))
    await next()
    writeFileSync(join(folder, 'green'), '')
    await next()
    const { finished } = await belfry.schedules.get(task.name)
    expect(finished).toBe('until')
    expect(await belfry.tasks.list()).toEqual([])
    expect(await belfry.tasks.list({ all: true })).toMatchObject([{ id: task.id, status: 'finished' }])
  })
})
