import { expect, it } from 'vitest'
import { knowsRunToken } from '../../../../src/parts/agents/children/run-token.ts'
import { budgetsOf } from '../../../../src/parts/agents/tasks/task-answer.ts'
import { findTask, type TaskView } from '../../../../src/parts/agents/tasks/task-rows.ts'
import { all, both } from '../../../../src/store/statement.ts'
import { startAt } from '../../../operations/desk.ts'
import { listAudit } from '../../../store/list-audit.ts'
import { atEachDesk, day, hour, minute, agent as other, verbsOf } from '../tasks/scene.ts'
import { agentVerbs, atWork, running } from './scene.ts'

const later = (n: number) => ({ in: '20m', prompt: `Look at ${n}.` })

atEachDesk('what an agent plans in its run', (desk) => {
  it('is a task of its project, of the profile, queue, budget and tags of its parent, which expires within a week', async () => {
    const { task, agent, lease } = await atWork(desk(), {
      tags: ['deploys'],
      env: { KEY: { secret: 'KEY' } },
      model: 'opus',
    })
    const { answer, task: child } = await agent.plan({ cron: '0 9 * * 1-5', prompt: 'Again.' })
    expect(answer).toBe('created')
    expect(child).toMatchObject({ agent: 'claude', durable: true, parent: task.name, expiresAt: startAt + 7 * day })
    const { tasks, schedules } = verbsOf(desk())
    expect(await tasks.get(child.id)).toMatchObject({
      by: 'agent',
      author: `agent ${lease.runId}`,
      run: lease.runId,
      project: '/srv/app',
    })
    expect(await schedules.get(`task-${child.id}`)).toMatchObject({
      queue: 'agents',
      tags: ['deploys', 'project:/srv/app', `parent:${task.name}`],
      target: {
        agent: { profile: 'claude', model: 'opus', prompt: 'Again.' },
        cwd: '/srv/app',
        env: { KEY: { secret: 'KEY' } },
      },
    })
    await verbsOf(desk()).budgets.put('looks', { for: `schedule=${task.name}`, per: 'day', zone: 'UTC', runs: 9 })
    const view = (await desk().store.look(findTask, child.id)) as TaskView
    expect(await budgetsOf(desk().context, view)).toEqual(['looks'])
    expect(await agent.planned({})).toMatchObject([{ id: task.id }, { id: child.id, lastStartedAt: null }])
  })

  it('is one of five over all runs of its parent, also when six are asked for at once; one that is deleted makes room', async () => {
    const { agent } = await atWork(desk())
    const answers = await Promise.allSettled([1, 2, 3, 4, 5, 6].map((n) => agent.plan(later(n))))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    await expect(agent.plan(later(7))).rejects.toMatchObject({
      code: 'not-allowed',
      details: { reason: 'children-full' },
    })
    await expect(agent.wake({ delaySeconds: 60, reason: 'x', prompt: 'y' })).rejects.toMatchObject({
      details: { reason: 'children-full' },
    })
    const [first] = (await agent.planned({})).filter(({ parent }) => parent !== undefined)
    await agent.unplan(first?.id ?? '')
    expect(await agent.plan(later(7))).toMatchObject({ answer: 'created' })
  })

  it('counts with what other runs of its parent have planned', async () => {
    const { agent, end } = await atWork(desk())
    for (const n of [1, 2, 3]) await agent.plan({ in: '6h', prompt: `Look at ${n}.` })
    await end()
    desk().clock.advance(hour)
    const next = await running(desk())
    const answers = await Promise.allSettled([4, 5, 6].map((n) => next.agent.plan(later(n))))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(answers).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: 'not-allowed' }) })
  })

  it('plans nothing itself, and runs every five minutes at most', async () => {
    const { agent, end } = await atWork(desk())
    await expect(agent.plan({ every: '4m', prompt: 'x' })).rejects.toMatchObject({ details: { reason: 'child-every' } })
    await expect(agent.plan({ cron: '* * * * *', prompt: 'x' })).rejects.toMatchObject({
      details: { reason: 'child-every' },
    })
    await agent.plan({ in: '1m', prompt: 'x' })
    await end()
    desk().clock.advance(2 * minute)
    const child = await running(desk())
    for (const doing of [
      () => child.agent.plan(later(1)),
      () => child.agent.wake({ delaySeconds: 60, reason: 'x', prompt: 'y' }),
      () => child.agent.repeat({ prompt: 'x', every: '5m' }),
    ]) {
      await expect(doing()).rejects.toMatchObject({ code: 'not-allowed', details: { reason: 'child-depth' } })
    }
  })

  it('is paused, resumed and removed with its parent, unless it was paused by itself', async () => {
    const { task, agent } = await atWork(desk())
    const { tasks, schedules } = verbsOf(desk())
    const [one, two] = [await agent.plan(later(1)), await agent.plan(later(2))].map((each) => each.task.id) as [
      string,
      string,
    ]
    await tasks.pause(two, { reason: 'By itself.' })
    await schedules.pause(task.name, {})
    const standing = async () => (await Promise.all([one, two].map((id) => tasks.get(id)))).map(({ status }) => status)
    expect(await standing()).toEqual(['paused', 'paused'])
    expect((await agent.plan(later(3))).task.status).toBe('paused')
    await schedules.resume(task.name)
    expect((await standing())[0]).toBe('waiting')
    await schedules.delete(task.name, {})
    await expect(tasks.get(one)).rejects.toMatchObject({ code: 'not-found' })
    expect(await tasks.list()).toEqual([])
  })

  it('keeps a pause of its own through every pause of its parent, shorter or longer', async () => {
    const { task, agent } = await atWork(desk())
    const { tasks, schedules } = verbsOf(desk())
    const { id } = (await agent.plan(later(1))).task
    const pauses = [{}, { for: '2h' }]
    for (const own of pauses) {
      for (const ofParent of [{}, { for: '1m' }, { for: '1d' }]) {
        await tasks.pause(id, { reason: 'By itself.', ...own })
        const { paused: before, disabled } = await schedules.get(`task-${id}`)
        await schedules.pause(task.name, ofParent)
        await schedules.resume(task.name)
        expect(await schedules.get(`task-${id}`), JSON.stringify([own, ofParent])).toMatchObject({
          paused: before,
          disabled,
        })
        await tasks.resume(id)
        expect((await tasks.get(id)).status).toBe('waiting')
      }
    }
  })

  it('pauses with a parent that pauses itself after failures', async () => {
    const { agent, lease } = await atWork(desk(), { pauseAfterFailures: 1, attempts: 1 })
    const { task: child } = await agent.plan(later(1))
    const { runId, fence, scheduleId } = lease
    await desk().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'failed', reason: 'x' } }])
    expect(await verbsOf(desk()).tasks.get(child.id)).toMatchObject({ status: 'paused' })
  })

  it('expires with its parent', async () => {
    const { agent } = await atWork(desk(), { expires: '2d' })
    expect((await agent.plan({ every: '1h', prompt: 'x', expires: '6d' })).task.expiresAt).toBe(startAt + 2 * day)
    expect((await agent.repeat({ every: '1h', prompt: 'y' })).task.expiresAt).toBe(startAt + 2 * day)
  })

  it('is for its own profile where that says self, for any that says operate, and for none by default', async () => {
    const { agent } = await atWork(desk(), {}, 'admin')
    const refused = async (input: object) =>
      agent.plan({ in: '20m', prompt: 'x', ...input }).catch((error: unknown) => error)
    expect(await refused({})).toMatchObject({
      code: 'not-allowed',
      hint: expect.stringContaining('agents.claude.mayUse say self'),
    })
    expect(await refused({ agent: 'codex' })).toMatchObject({
      hint: expect.stringContaining('agents.codex.mayUse say operate'),
    })
    expect(await refused({ agent: 'clude' })).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('claude, if that was meant'),
    })
    await verbsOf(desk()).config.apply({
      source: 'test',
      agents: { claude: { mayUse: 'self' }, codex: { mayUse: 'operate' } },
    })
    expect(await refused({})).toMatchObject({ answer: 'created' })
    expect(await refused({ agent: 'codex' })).toMatchObject({ answer: 'created' })
  })

  it('of a session without a run is the task of an agent; a task of a person is not its to delete', async () => {
    const { tasks } = verbsOf(desk())
    const { task } = await tasks.create({ in: '20m', prompt: 'Mine.' })
    const session = agentVerbs({ ...desk().context, actor: { ...other, door: 'mcp' } })
    await expect(session.unplan(task.id)).rejects.toMatchObject({ code: 'not-allowed' })
    const { task: own } = await session.plan({ every: '5m', prompt: 'Often.' })
    expect(own).toMatchObject({ timing: 'every 5m', expiresAt: startAt + 7 * day })
    expect(await session.unplan(own.id)).toEqual({ id: own.id, deleted: true })
  })

  it('is refused at its fields: no program, environment, folder, queue, rights or session task', async () => {
    const { agent } = await atWork(desk())
    for (const field of [
      'env',
      'cwd',
      'argv',
      'setup',
      'queue',
      'account',
      'tags',
      'when',
      'until',
      'permanent',
      'promptFile',
      'onComplete',
      'model',
      'workspace',
      'permissions',
    ]) {
      const asked = { in: '20m', prompt: 'x', [field]: 'x' } as never
      await expect(agent.plan(asked), field).rejects.toMatchObject({
        code: expect.stringMatching(/invalid|not-allowed/),
      })
    }
    await expect(agent.plan({ ...later(1), durable: false })).rejects.toThrow('durable is false')
    await expect(agent.plan({ prompt: 'x', at: '2025-01-01T00:00Z' })).rejects.toMatchObject({ code: 'invalid' })
    await expect(agent.plan({ in: '20m', prompt: '' })).rejects.toThrow('is empty')
    await expect(agent.plan({ in: '20m', prompt: `Use belfry_r-1.1_${'a'.repeat(64)}` })).rejects.toThrow(
      'holds a secret',
    )
    await expect(agent.repeat({ prompt: 'x', until: { command: 'true' } as never })).rejects.toThrow(
      'a rule on the answer',
    )
    await expect(agent.repeat({ prompt: 'x', until: 'tomorrow' })).rejects.toThrow('an instant with its offset')
    await verbsOf(desk()).settings.set('durable', 'off')
    await expect(agent.plan(later(1))).rejects.toMatchObject({ code: 'conflict', details: { reason: 'durable-off' } })
    expect((await agent.planned({})).filter(({ parent }) => parent !== undefined)).toEqual([])
  })
})

atEachDesk('the token of a run', (desk) => {
  const known = (token: string) => knowsRunToken(desk().store, token)

  it('is bound to run, project, profile and depth; only its hash is stored', async () => {
    const { token, lease } = await atWork(desk())
    const within = { run: lease.runId, attempt: 1, project: '/srv/app', profile: 'claude', depth: 0 }
    expect(await known(token)).toEqual({ name: `agent ${lease.runId}`, scope: 'operate', kind: 'agent', within })
    expect(await known(`${token.slice(0, -1)}${token.endsWith('0') ? 1 : 0}`)).toBe('The token is not valid.')
    expect(await known(`belfry_t-1_${'0'.repeat(64)}`)).toBeNull()
    const findHashes = both('test find run tokens', 'select hash from belfry.run_token where ns = $1')
    const rows = await desk().store.look(function* ({ ns }) {
      return yield* all(findHashes, ns)
    })
    expect(JSON.stringify(rows)).not.toContain(token.slice(-64))
  })

  it('is dead with its run, and what is planned with it then is refused and audited once', async () => {
    const { token, agent, end, lease } = await atWork(desk())
    await end()
    expect(await known(token)).toBe('The run of the token has ended, and the token with it.')
    await known(token)
    // The call was accepted before the run ended, but comes too late.
    await expect(agent.plan(later(1))).rejects.toMatchObject({ code: 'not-allowed', details: { reason: 'run-ended' } })
    await expect(agent.progress({ says: 'x' })).rejects.toMatchObject({ code: 'conflict' })
    const audited = await desk().store.look(listAudit, `run ${lease.runId}`)
    expect(audited.filter(({ verb }) => verb === 'token.use')).toHaveLength(1)
  })

  it('is dead with a worker that died, before and after its run is given out again', async () => {
    const { token, lease } = await atWork(desk())
    desk().clock.advance(2 * hour)
    expect(await known(token)).toContain('has ended')
    await desk().store.reclaim({ limit: 10 })
    await running(desk()).catch(() => undefined)
    expect(await known(token)).toContain('has ended')
    expect(lease.fence).toBe(1)
  })
})

atEachDesk('a loop that paces itself', (desk) => {
  it('begins at once, goes on when its run says, under a note in its prompt, and ends when it is stopped', async () => {
    const { agent, end } = await atWork(desk())
    const { task: loop } = await agent.repeat({ prompt: 'Watch it.' })
    expect(loop).toMatchObject({ timing: 'at its own pace', nextAt: startAt })
    await end()
    const first = await running(desk())
    expect(await first.agent.wake({ delaySeconds: 5, reason: 'Soon.', prompt: 'Look at step 2.' })).toEqual({
      at: startAt + minute,
      clamped: true,
      id: null,
      stopped: false,
    })
    await first.end()
    const { tasks } = verbsOf(desk())
    expect(await tasks.get(loop.id)).toMatchObject({ nextAt: startAt + minute, status: 'waiting' })
    desk().clock.advance(minute)
    const second = await running(desk())
    expect(await second.agent.wake({ stop: true })).toMatchObject({ at: null, stopped: true })
    await second.end()
    expect(await tasks.get(loop.id)).toMatchObject({ nextAt: null, status: 'finished' })
  })

  it('whose run neither wakes nor stops is asked once more after 20 minutes, and then ends', async () => {
    const { agent, end } = await atWork(desk())
    const { task: loop } = await agent.repeat({ prompt: 'Watch it.' })
    await end()
    await (await running(desk())).end()
    const { tasks } = verbsOf(desk())
    expect(await tasks.get(loop.id)).toMatchObject({ nextAt: startAt + 20 * minute })
    desk().clock.advance(20 * minute)
    await (await running(desk())).end()
    expect(await tasks.get(loop.id)).toMatchObject({ status: 'finished' })
  })

  it('or an every, ends with the first answer that fits its rule', async () => {
    const { agent, end } = await atWork(desk())
    const { task: loop } = await agent.repeat({ prompt: 'Is CI green?', every: '5m', until: { textIncludes: 'GREEN' } })
    await end()
    const { tasks } = verbsOf(desk())
    await (await running(desk())).end({ text: 'RED' })
    expect(await tasks.get(loop.id)).toMatchObject({ nextAt: startAt + 5 * minute })
    desk().clock.advance(6 * minute)
    await (await running(desk())).end({ text: 'All GREEN now.' })
    expect(await tasks.get(loop.id)).toMatchObject({ status: 'finished' })
  })

  it('plans its next run with the rank of a rule: a hint of a person stays, and rules, and the loop goes on behind it', async () => {
    const { agent, end } = await atWork(desk())
    const { task: loop } = await agent.repeat({ prompt: 'Watch it.' })
    await end()
    const first = await running(desk())
    const { schedules, tasks } = verbsOf(desk())
    const name = `task-${loop.id}`
    await schedules.hint(name, { at: new Date(startAt + 30 * minute).toISOString(), ttl: '2h', reason: 'Mine.' })
    await first.agent.wake({ delaySeconds: 60, reason: 'Soon.' })
    expect((await schedules.hints(name)).filter(({ ended }) => ended === null)).toMatchObject([
      { author: `agent ${first.lease.runId}`, by: 'rule' },
      { author: 'tester', by: 'person', reason: 'Mine.' },
    ])
    await first.end()
    expect(await tasks.get(loop.id)).toMatchObject({ nextAt: startAt + 30 * minute })
    desk().clock.advance(30 * minute)
    await (await running(desk())).end()
    // That run replaced the one that the loop had planned. It planned no run itself, so the agent is asked again.
    expect(await tasks.get(loop.id)).toMatchObject({ nextAt: startAt + 50 * minute })
  })

  it('keeps the run that it planned where a rule of its schedule clears hints', async () => {
    const { agent, end } = await atWork(desk())
    const { task: loop } = await agent.repeat({ prompt: 'Watch it.' })
    await end()
    const { schedules, tasks } = verbsOf(desk())
    // biome-ignore lint/suspicious/noThenProperty: a rule is data, and its effect no function.
    const rules = [{ name: 'calm', when: { $failures: 0 }, then: { clear: true } }]
    await schedules.update(`task-${loop.id}`, { rules } as never)
    for (const turn of [1, 2, 3]) {
      const run = await running(desk())
      await run.agent.wake({ delaySeconds: 300, reason: 'Soon.' })
      await run.end({ text: 'All is calm.' })
      expect(await tasks.get(loop.id)).toMatchObject({ status: 'waiting', nextAt: startAt + turn * 5 * minute })
      desk().clock.advance(5 * minute)
    }
  })

  it('goes on after a pause of days, with its parent or of its own', async () => {
    const { task, agent, end } = await atWork(desk(), { every: '30d' })
    const { task: loop } = await agent.repeat({ prompt: 'Watch it.' })
    await end()
    const { schedules, tasks } = verbsOf(desk())
    for (const name of [task.name, `task-${loop.id}`]) {
      const run = await running(desk())
      await run.agent.wake({ delaySeconds: 60, reason: 'Soon.' })
      await run.end()
      await schedules.pause(name, { reason: 'The weekend.' })
      desk().clock.advance(3 * day)
      await desk().store.fireDue({ limit: 10 })
      await schedules.resume(name)
      expect(await tasks.get(loop.id), name).toMatchObject({ status: 'waiting', nextAt: desk().clock.now() })
    }
  })

  it('is stopped only from within: elsewhere there is nothing to stop', async () => {
    const { agent } = await atWork(desk())
    await expect(agent.wake({ stop: true })).rejects.toMatchObject({ code: 'conflict' })
    await expect(agent.wake({ delaySeconds: 60 })).rejects.toThrow('reason is missing')
    expect(await agent.wake({ delaySeconds: 600, reason: 'Later.', prompt: 'Look.' })).toMatchObject({
      at: startAt + 10 * minute,
      clamped: false,
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
    })
  })
})

atEachDesk('an agent in its run', (desk) => {
  it('notes its progress in the output of its own run, and takes messages of its own project alone', async () => {
    const { agent, lease, token } = await atWork(desk())
    await agent.progress({ says: `Half\nway, with ${token}` })
    const { runs, inbox } = verbsOf(desk())
    expect((await runs.output(lease.runId))?.text).toBe('[progress: Half way, with [token]]\n')
    await expect(agent.progress({ says: 'x', run: 'r-18' })).rejects.toMatchObject({ code: 'not-allowed' })
    await inbox.send('Hello.', { project: '/srv/app' })
    await expect(agent.inbox.next({ project: '/srv/other' })).rejects.toMatchObject({ code: 'not-allowed' })
    await expect(agent.inbox.next({ session: 'yours' })).rejects.toMatchObject({ code: 'not-allowed' })
    const { message } = await agent.inbox.next({})
    expect(await agent.inbox.done(message?.id ?? '', { result: 'Well.' })).toMatchObject({ done: true })
  })
})
