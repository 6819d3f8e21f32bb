import { expect, it } from 'vitest'
import { agent, atEachDesk, limited, verbsOf } from './scene.ts'

const daily = { cron: '0 9 * * *', zone: 'UTC', prompt: 'Triage the inbox' }

atEachDesk('what is refused of a task by who asks', (desk) => {
  it('a profile that a token may not use, with the scope that it needs', async () => {
    const tasks = limited(desk(), { door: 'http' }, { scope: 'operate' })
    await expect(tasks.create(daily)).rejects.toMatchObject({
      code: 'not-allowed',
      details: { has: 'operate', needs: 'admin' },
      hint: expect.stringContaining('agents.claude.mayUse'),
    })
    await verbsOf(desk()).config.apply({ source: 'test', agents: { claude: { mayUse: 'operate' } } })
    expect((await tasks.create(daily)).answer).toBe('created')
  })

  it('an environment, a set-up or a path outside the project, of a caller without the scope admin and of an agent', async () => {
    await verbsOf(desk()).config.apply({ source: 'test', agents: { claude: { mayUse: 'operate' } } })
    const operator = limited(desk(), { door: 'http' }, { scope: 'operate' })
    const attendant = limited(desk(), { ...agent, door: 'http' }, { scope: 'admin' })
    const { task: own } = await operator.create({
      ...daily,
      cwd: '/srv/app/web',
      promptFile: 'p.md',
      prompt: undefined,
    })
    const { task: its } = await attendant.create({ ...daily, prompt: 'Look.' })
    for (const [given, says] of [
      [{ env: { PATH: '/srv/bin' } }, /give env/],
      [{ env: { KEY: { secret: 'KEY' } }, setup: 'sh' }, /give env, setup/],
      [{ setup: ['sh', '-c', 'true'] }, /give setup/],
      [{ cwd: '/etc' }, /give a cwd outside the project \/srv\/app/],
      [{ cwd: '../app2' }, /give a cwd outside/],
      [{ promptFile: '/srv/app/../secret', prompt: undefined }, /give a promptFile outside/],
    ] as const) {
      for (const [tasks, id] of [
        [operator, own.id],
        [attendant, its.id],
      ] as const) {
        const refusal = { code: 'not-allowed', message: expect.stringMatching(says) }
        await expect(tasks.create({ ...daily, prompt: 'Another.', ...given } as never)).rejects.toMatchObject(refusal)
        await expect(tasks.edit(id, given as never)).rejects.toMatchObject(refusal)
      }
    }
    expect(await verbsOf(desk()).tasks.list()).toHaveLength(2)
    expect((await verbsOf(desk()).tasks.create({ ...daily, cwd: '/srv/b', env: { A: '1' } })).answer).toBe('created')
  })
})
