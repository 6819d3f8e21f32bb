import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fence } from '../../../../src/core/untrusted-text.ts'
import type { Belfry } from '../../../../src/index.ts'
import { playAgents, type Scene } from '../scene.ts'

/** A task for a stand-in that notes how it was started. */
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
    // It was not interrupted: only the new prompt is said.
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
