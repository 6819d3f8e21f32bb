import { expect, it } from 'vitest'
import { until } from '../../targets/command/processes.ts'
import { playAgents } from './scene.ts'

it('one stop of agents holds tasks, session tasks and messages; what was at work is given back uncounted, and resumed', async () => {
  const scene = await playAgents()
  const { belfry, folder } = scene
  await belfry.serveSession({ session: 'mine', project: folder })
  await belfry.start()
  const { env } = scene.target('claude', 'slow | fixture:success')
  const { task } = await belfry.tasks.create({ every: '1h', agent: 'claude', prompt: 'Look.', cwd: folder, env })
  const { id } = await belfry.tasks.run(task.id)
  await until(() => scene.starts().length > 0, 'the agent has started')
  await expect.poll(async () => (await belfry.runs.get(id)).attempt?.agent?.sessionId).toBeDefined()
  const { task: own } = await belfry.tasks.create({ every: '1h', prompt: 'Mine.', durable: false })
  await belfry.inbox.send('Theirs.', { session: 'mine' })
  await belfry.holds.stop({ on: 'kind:agent', release: true, reason: 'Incident 4711' })
  await expect.poll(async () => (await belfry.runs.get(id)).status).toBe('ready')
  expect(await belfry.runs.get(id)).toMatchObject({ attempts: 0 })
  // The run of the session task is created, and waits as the message does.
  await belfry.tasks.run(own.id)
  expect(await belfry.inbox.next({ project: folder })).toMatchObject({ message: null, hold: expect.any(String) })
  expect(scene.starts()).toHaveLength(1)
  await belfry.holds.go({ on: 'kind:agent' })
  expect(await belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' }, attempts: 0 })
  const [first, second] = scene.starts()
  const session = first?.args[first.args.indexOf('--session-id') + 1]
  expect(second?.args).toEqual(expect.arrayContaining(['--resume', session]))
  const delivered: string[] = []
  for await (const message of belfry.inbox.messages({ session: 'mine', project: folder })) {
    await message.done()
    if (delivered.push(message.prompt) === 2) break
  }
  expect(delivered).toEqual(['Mine.', 'Theirs.'])
})
