import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Desk, errorOf, startAt } from '../../../operations/desk.ts'
import { agent, atEachDesk, day, hour, verbsOf } from '../tasks/scene.ts'

const triage = {
  id: '3f9c01ab',
  cron: '0 9 * * 1-5',
  prompt: 'Triage the inbox',
  createdAt: startAt - day,
  recurring: true,
}
const once = { id: 'c0ffee00', cron: '30 12 6 1 *', prompt: 'Is it out?', createdAt: startAt - hour, recurring: false }

/** A project with Claude's file, and the verbs in that project. */
function projectWith(desk: Desk, tasks: unknown) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belfry-claude-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, '.claude'))
  const file = join(folder, '.claude', 'scheduled_tasks.json')
  const text = typeof tasks === 'string' ? tasks : `${JSON.stringify({ version: 1, tasks }, null, 2)}\n`
  writeFileSync(file, text)
  const verbs = verbsOf(desk, {}, { folder })
  return { folder, file, text, ...verbs, left: () => readFileSync(file, 'utf8') }
}

atEachDesk('an import of Claude’s tasks', (desk) => {
  it('brings them over under their ids, in the zone of the machine, with their expiry, and says that Claude still fires them', async () => {
    const forever = { ...triage, id: 'weekly', cron: '0 8 * * 1', permanent: true, createdAt: 0 }
    const { store, tasks, folder, left, text } = projectWith(desk(), [triage, once, forever])
    const answer = await store.importClaude({})
    expect(answer).toMatchObject({
      tasks: [
        { id: '3f9c01ab', name: 'claude-3f9c01ab', from: 'tasks[0]', answer: 'created', prompt: 'Triage the inbox' },
        { id: 'c0ffee00', answer: 'created' },
        { name: 'claude-weekly', answer: 'created' },
      ],
      left: [],
      stillFires: 3,
      moved: 0,
      ok: true,
    })
    expect(await tasks.get('3f9c01ab')).toMatchObject({
      agent: 'claude',
      zone: 'Europe/Paris',
      cwd: folder,
      project: folder,
      expiresAt: startAt + 6 * day,
    })
    expect((await tasks.get('c0ffee00')).nextAt).toBe(Date.parse('2026-01-06T11:30:00Z'))
    expect((await tasks.get('claude-weekly')).expiresAt).toBeNull()
    expect(left()).toBe(text)
    const again = await store.importClaude({})
    expect(again.tasks.map((task) => task.answer)).toEqual(['unchanged', 'unchanged', 'unchanged'])
  })

  it('leaves out what is over or cannot be read, each with its place and the reason, and the rest is brought', async () => {
    const { store, tasks } = projectWith(desk(), [
      { ...triage, id: 'a', createdAt: startAt - 8 * day },
      { ...once, id: 'b', createdAt: startAt - 400 * day },
      { ...triage, id: 'c', cron: '61 * * * *' },
      { ...once, id: 'd', cron: 'never' },
      { ...triage, id: 'e', prompt: '' },
      { ...triage, agentId: 'mate' },
    ])
    const { left, different, ok } = await store.importClaude({})
    expect([ok, left.map(({ where, why }) => [where, why])]).toEqual([
      false,
      [
        ['tasks[0]', expect.stringContaining('it expired at 2026')],
        ['tasks[1]', expect.stringContaining('its instant has passed: 2025-01-06')],
        ['tasks[2]', expect.stringContaining('cron')],
        ['tasks[3]', expect.stringContaining('its cron never cannot be read')],
        ['tasks[4]', expect.stringContaining('prompt')],
      ],
    ])
    expect(different).toContainEqual({ where: 'tasks[5]', what: 'agentId', why: 'it has no meaning here' })
    expect((await tasks.list()).map(({ id }) => id)).toEqual(['3f9c01ab'])
  })

  it('with move removes from the file what it has brought, nothing else, and only after the commit', async () => {
    const other = { ...triage, id: 'late', createdAt: startAt - 8 * day }
    const { store, tasks, file, left, text } = projectWith(desk(), [triage, other, once])
    await verbsOf(desk()).settings.set('durable', 'off')
    await expect(store.importClaude({ move: true })).rejects.toThrow('Durable tasks are off')
    expect(left()).toBe(text)
    await verbsOf(desk()).settings.set('durable', 'on')
    expect(await store.importClaude({ move: true })).toMatchObject({ moved: 2, stillFires: 0 })
    expect(left()).toBe(`${JSON.stringify({ version: 1, tasks: [other] }, null, 2)}\n`)
    // The task was changed here, so it differs from the file and stays in the file.
    await tasks.edit('c0ffee00', { prompt: 'Is it out now?' })
    writeFileSync(file, text)
    const again = await store.importClaude({ move: true })
    expect(again).toMatchObject({
      moved: 1,
      stillFires: 1,
      different: [{}, { where: 'tasks[2]', what: 'claude-c0ffee00' }],
    })
    expect(left()).toContain('c0ffee00')
  })

  it('in a dry run writes neither tasks nor the file', async () => {
    const { left, text, folder, tasks } = projectWith(desk(), [triage])
    const rehearsal = verbsOf(desk(), {}, { folder, store: desk().store.rehearsal() })
    expect(await rehearsal.store.importClaude({ move: true })).toMatchObject({
      tasks: [{ answer: 'created' }],
      moved: 1,
    })
    expect([left(), await tasks.list()]).toEqual([text, []])
  })

  it.each([
    ['{ "tasks": [ }', 'is not JSON at character 14'],
    ['[]', 'is JSON, but no object'],
    ['{}', 'tasks is missing'],
    [
      JSON.stringify({ tasks: [{ ...triage, cron: 5 }, 'x', { ...triage, createdAt: -1 }] }),
      'tasks[0].cron is no string',
    ],
    [JSON.stringify({ tasks: [triage, { ...triage, createdAt: 'x' }] }), 'tasks[1].createdAt is no instant'],
  ])('refuses %s whole, at its place', async (text, message) => {
    const { store, tasks, left } = projectWith(desk(), text)
    expect((await errorOf(store.importClaude({ move: true }))).message).toContain(message)
    expect([left(), await tasks.list()]).toEqual([text, []])
  })

  it('follows no link, names a file that is not there, and is not for agents', async () => {
    const { store, folder, file } = projectWith(desk(), [triage])
    symlinkSync(file, join(folder, 'link.json'))
    await expect(store.importClaude({ path: 'link.json' })).rejects.toThrow('is a symbolic link')
    symlinkSync(join(folder, '.claude'), join(folder, 'linked'))
    await expect(store.importClaude({ path: 'linked/scheduled_tasks.json' })).rejects.toThrow('is a symbolic link')
    await expect(store.importClaude({ path: 'none.json' })).rejects.toThrow('There is no file')
    await expect(verbsOf(desk(), agent, { folder }).store.importClaude({})).rejects.toThrow('Only a person may do this')
  })
})
