import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../../src/index.ts'
import { TestClock } from '../../../../src/testing/test-clock.ts'
import { binary } from '../../../e2e/belfry-process.ts'
import { errorOf, problemsIn } from '../../../operations/desk.ts'
import { scratchFolder } from '../../../scratch.ts'

const minute = 60_000

describe('session tasks of a program that serves a session', () => {
  let folder: string
  let clock: TestClock
  let belfry: Belfry

  async function open(): Promise<Belfry> {
    const store = `sqlite:${join(folder, '.belfry/belfry.db')}`
    return Belfry.open({ store, clock, log: false, name: 'tester' })
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(scratchFolder(), 'belfry-session-'))
    clock = new TestClock(Date.UTC(2026, 0, 5, 9))
    belfry = await open()
    await belfry.serveSession({ session: 'mine', project: folder })
  })
  afterEach(async () => {
    await belfry.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The next message, after the worker of the private store has fired due schedules; null after many attempts. */
  async function nextMessage() {
    for (let look = 0; look < 200; look++) {
      const { message } = await belfry.inbox.next({ project: folder })
      if (message !== null) return message
      clock.advance(10)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return null
  }

  it('are listed with the others, delivered into the session only, and gone with it', async () => {
    const kept = await belfry.tasks.create({ every: '1h', prompt: 'Kept.', cwd: folder })
    const { task } = await belfry.tasks.create({ in: '20m', prompt: 'Look again.', durable: false, exact: true })
    expect(task).toMatchObject({ agent: 'session', durable: false, session: 'mine', prompt: 'Look again.' })
    expect(kept.task).toMatchObject({ agent: 'claude', durable: true })
    const ids = [task.id, kept.task.id]
    expect((await belfry.tasks.list()).map(({ id }) => id)).toEqual(ids)
    expect((await belfry.tasks.list({ limit: 1 })).map(({ id }) => id)).toEqual(ids.slice(0, 1))
    expect((await belfry.tasks.list({ limit: 1, after: task.id })).map(({ id }) => id)).toEqual(ids.slice(1))
    const other = await open()
    expect((await other.tasks.list()).map(({ id }) => id)).toEqual(ids.slice(1))
    expect((await errorOf(other.tasks.get(task.id))).code).toBe('not-found')
    expect((await belfry.inbox.next({ project: folder })).message).toBeNull()
    clock.advance(20 * minute)
    const message = await nextMessage()
    expect(message).toMatchObject({ prompt: 'Look again.', trusted: true, schedule: task.name })
    expect(message?.text).toContain('Not typed by a user, approves nothing.]\n\nLook again.')
    expect(await belfry.inbox.next({ project: folder })).toMatchObject({
      message: null,
      unacknowledged: { run: message?.run },
    })
    await belfry.inbox.ack(message?.id ?? '')
    await belfry.inbox.done(message?.id ?? '', { result: 'Looked.' })
    expect(await belfry.tasks.list()).toHaveLength(1)
    await belfry.tasks.create({ every: '1h', prompt: 'Again.', durable: false })
    await belfry.close()
    belfry = other
    expect((await belfry.tasks.list({ all: true })).map(({ id }) => id)).toEqual(ids.slice(1))
  })

  it('are shown, changed, paused, run and deleted by their ids', async () => {
    const { task } = await belfry.tasks.create({ every: '10m', prompt: 'Look.', durable: false })
    expect(await belfry.tasks.get(task.id)).toMatchObject({ prompt: 'Look.', project: expect.any(String) })
    const { task: changed } = await belfry.tasks.edit(task.id, { prompt: 'Look well.', every: '20m' })
    expect(changed).toMatchObject({ prompt: 'Look well.', durable: false, timing: expect.stringContaining('20') })
    expect(await problemsIn(belfry.tasks.edit(task.id, { agent: 'codex' }))).toMatchObject([{ field: 'agent' }])
    await belfry.tasks.run(task.id)
    expect((await nextMessage())?.prompt).toBe('Look well.')
    expect((await belfry.tasks.pause(task.id)).status).toBe('live')
    expect((await belfry.tasks.resume(task.id)).id).toBe(task.id)
    await belfry.tasks.delete(task.id)
    expect(await belfry.tasks.list()).toEqual([])
  })

  it('count among the 50 of their project, and the others among theirs', async () => {
    const made = (index: number, durable: boolean) =>
      belfry.tasks.create({ every: '1h', prompt: `${index}`, ...(durable ? { cwd: folder } : { durable }) })
    for (let index = 0; index < 50; index++) await made(index, index % 2 === 0)
    expect(await errorOf(made(50, true))).toMatchObject({ code: 'conflict', details: { reason: 'project-full' } })
    expect(await errorOf(made(50, false))).toMatchObject({ code: 'conflict', details: { reason: 'project-full' } })
    expect(await belfry.tasks.list({ limit: 100 })).toHaveLength(50)
  })

  it('say nothing of an agent, and need a session', async () => {
    const stray = { every: '1h', prompt: 'Look.', durable: false, agent: 'codex', cwd: '.', model: 'x' } as const
    const problems = await problemsIn(belfry.tasks.create(stray))
    expect(problems.map(({ field }) => field).sort()).toEqual(['agent', 'cwd', 'model'])
    expect(await problemsIn(belfry.tasks.create({ every: '1h', durable: false }))).toMatchObject([{ field: 'prompt' }])
    const other = await open()
    const refusal = await errorOf(other.tasks.create({ every: '1h', prompt: 'Look.', durable: false }))
    expect(refusal).toMatchObject({ code: 'conflict', details: { reason: 'no-session' } })
    expect(refusal.hint).toContain('belfry.serveSession()')
    expect(await other.tasks.list()).toEqual([])
    await other.close()
  })

  it('go on while durable tasks are off; a task that is to be durable is then refused, and no session task instead', async () => {
    await belfry.settings.set({ name: 'durable', value: 'off' })
    const refusal = await errorOf(belfry.tasks.create({ in: '1m', prompt: 'Kept.', durable: true }))
    expect(refusal).toMatchObject({ code: 'conflict', details: { reason: 'durable-off' } })
    expect(await belfry.tasks.list()).toEqual([])
    await belfry.tasks.create({ in: '5m', prompt: 'Mine.', durable: false, exact: true })
    clock.advance(5 * minute)
    expect((await nextMessage())?.prompt).toBe('Mine.')
  })

  it.each([
    ['everything', {}],
    ['agents', { on: 'kind:agent' }],
    ['messages', { on: 'kind:inbox' }],
  ])('and messages wait while %s is stopped, and go on afterwards', async (_, stop) => {
    await belfry.tasks.create({ in: '5m', prompt: 'Mine.', durable: false, exact: true })
    await belfry.inbox.send('Theirs.', { session: 'mine' })
    await belfry.holds.stop(stop)
    expect(await belfry.inbox.next({ project: folder })).toMatchObject({ message: null, hold: expect.any(String) })
    clock.advance(5 * minute)
    expect(await nextMessage()).toBeNull()
    await belfry.holds.go(stop)
    const first = await nextMessage()
    await belfry.inbox.ack(first?.id ?? '')
    expect([first?.prompt, (await nextMessage())?.prompt].sort()).toEqual(['Mine.', 'Theirs.'])
  })

  it('and messages wait while the machine is stopped by a file', async () => {
    await belfry.tasks.create({ in: '5m', prompt: 'Mine.', durable: false, exact: true })
    await belfry.inbox.send('Theirs.', { session: 'mine' })
    const file = join(folder, '.belfry/STOP')
    writeFileSync(file, 'Incident 4711\n')
    clock.advance(5 * minute)
    expect(await nextMessage()).toBeNull()
    const { hold } = await belfry.inbox.next({ project: folder })
    expect(hold).toContain('Incident 4711')
    rmSync(file)
    expect(await nextMessage()).not.toBeNull()
  })
})

it('a model plans for its own session: the prompt comes to it, and the list and the deletion know the task', async () => {
  const folder = mkdtempSync(join(scratchFolder(), 'belfry-session-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = `sqlite:${join(folder, '.belfry/belfry.db')}`
  await (await Belfry.open({ store, log: false })).close()
  const client = new Client({ name: 'a session', version: '1' })
  const args = [binary, 'mcp', '--tools', 'tasks', '--store', store]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder, stderr: 'inherit' }))
  onTestFinished(() => client.close())
  const call = async (name: string, given: object) => {
    const { content } = await client.callTool({ name, arguments: { ...given } })
    return JSON.parse((content as { text: string }[])[0]?.text ?? '')
  }
  const { task } = await call('cron_create', { in: '1s', prompt: 'Look again.', durable: false })
  const { task: other } = await call('cron_create', { every: '1h', prompt: 'Hourly.', durable: false })
  expect(task).toMatchObject({ durable: false })
  expect(await call('cron_list', {})).toMatchObject([{ id: task.id }, { id: other.id }])
  const { message } = await call('inbox_next', { wait: '30s' })
  expect(message.text).toMatch(/approves nothing\.\]\n\nLook again\.$/)
  await call('inbox_done', { message: message.id, result: 'Looked.' })
  const { confirm } = await call('cron_delete', { id: other.id })
  expect(await call('cron_delete', { id: other.id, confirm })).toMatchObject({ deleted: true })
  expect(await call('cron_list', {})).toEqual([])

  const woken = await call('schedule_wakeup', { delaySeconds: 60, reason: 'CI is slow.', prompt: 'Look at CI.' })
  const { task: looped } = await call('loop', { every: '5m', prompt: 'Is CI green?' })
  expect(await call('cron_list', {})).toMatchObject([
    { id: woken.id, durable: false },
    { id: looped.id, durable: false },
  ])
  expect((await call('inbox_next', { wait: '30s' })).message.text).toMatch(/\n\nIs CI green\?$/)
  const { error: often } = await call('loop', { every: '4m', prompt: 'Often.' })
  expect(often).toMatchObject({ code: 'not-allowed', hint: expect.stringContaining('at least 5m') })
  const { error: asks } = await call('cron_create', { in: '20m', prompt: 'Kept.' })
  expect(asks).toMatchObject({ code: 'not-allowed', hint: expect.stringContaining('durable: false') })
  const { error: unpaced } = await call('loop', { prompt: 'When you like.' })
  expect(JSON.stringify(unpaced)).toContain('schedule_wakeup')
  for (const prompt of ['3', '4', '5']) await call('cron_create', { in: '1h', prompt, durable: false })
  const { error: full } = await call('cron_create', { in: '1h', prompt: '6', durable: false })
  expect(full).toMatchObject({ code: 'not-allowed', hint: expect.stringContaining('cron_delete') })
})
