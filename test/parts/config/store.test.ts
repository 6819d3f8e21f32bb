import { describe, expect, it } from 'vitest'
import { defaultPolicy } from '../../../src/core/queue/policy.ts'
import { applyConfig, type ConfigOptions, type NewConfig } from '../../../src/parts/config/apply-config.ts'
import { configApplied, configFaults, listConfigs, noteConfigFault } from '../../../src/parts/config/read-configs.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findQueue } from '../../../src/store/reads/find-queue.ts'
import { listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { setHint } from '../../../src/store/schedules/set-hint.ts'
import { listTokens } from '../../../src/store/tokens/find-token.ts'
import { createToken } from '../../../src/store/tokens/write-token.ts'
import { listAudit } from '../../store/list-audit.ts'
import { actor, hourly, onEachStore, type Stage } from '../../store/schedule-stage.ts'

const schedule = (name: string, more: object = {}) => ({ name, timing: hourly, target: { handler: 'report' }, ...more })

let contents = 0
const apply = (stage: Stage, config: Partial<NewConfig>, options: Partial<ConfigOptions> = {}) =>
  stage.store.do(
    applyConfig,
    { source: 'ops', hash: `hash ${++contents}`, file: 'h:/f', queues: [], schedules: [], tokens: [], ...config },
    { actor, ...options },
  )
const names = async ({ store }: Stage) => (await store.look(listSchedules)).map(({ spec }) => spec.name)

onEachStore('a file', (stage) => {
  it('makes what it names, changes it, and deletes what it no longer names', async () => {
    const first = await apply(stage(), { schedules: [schedule('a'), schedule('b')] })
    expect(first.schedules).toMatchObject([
      { name: 'a', answer: 'created', before: null },
      { name: 'b', answer: 'created' },
    ])
    const second = await apply(stage(), { schedules: [schedule('b', { priority: 5 })] })
    expect(second.schedules).toMatchObject([
      { name: 'b', answer: 'updated', before: { name: 'b' }, after: { priority: 5 } },
      { name: 'a', answer: 'deleted', before: { name: 'a' }, after: null },
    ])
    expect(await names(stage())).toEqual(['b'])
    expect(await stage().view('b')).toMatchObject({ managedBy: 'ops' })
  })

  it('deletes only what its own source made', async () => {
    await stage().put({ name: 'by-hand' })
    await apply(stage(), { source: 'other', schedules: [schedule('theirs')] })
    await apply(stage(), { schedules: [schedule('a'), schedule('b')] })
    await apply(stage(), { schedules: [schedule('a')] })
    expect(await names(stage())).toEqual(['a', 'by-hand', 'theirs'])
  })

  it('that would delete more than half of what its source made changes nothing unless that is meant', async () => {
    await apply(stage(), { schedules: ['a', 'b', 'c'].map((name) => schedule(name)) })
    const cut = { schedules: [schedule('a', { priority: 5 })] }
    await expect(apply(stage(), cut)).rejects.toMatchObject({
      code: 'conflict',
      message: 'It would delete 2 of the 3 schedules that source ops created; nothing was changed.',
      details: { deletes: ['b', 'c'], of: 3 },
    })
    expect(await names(stage())).toEqual(['a', 'b', 'c'])
    expect((await stage().view('a')).spec.priority).toBeUndefined()
    await apply(stage(), cut, { yes: true })
    expect(await names(stage())).toEqual(['a'])
    await expect(apply(stage(), {})).rejects.toThrow('It would delete the only schedule that source ops created')
  })

  it('cannot have a name that another source looks after, even to say the same', async () => {
    await apply(stage(), { source: 'other', schedules: [schedule('a')], queues: [{ name: 'mail', policy: {} }] })
    await expect(apply(stage(), { schedules: [schedule('a')] })).rejects.toMatchObject({
      code: 'conflict',
      details: { schedule: 'a', managedBy: 'other' },
    })
    await expect(apply(stage(), { queues: [{ name: 'mail', policy: {} }] })).rejects.toMatchObject({
      code: 'conflict',
      details: { queue: 'mail', managedBy: 'other' },
    })
  })

  it('takes over what was made by hand only where it says the same, or somebody says so', async () => {
    await stage().put({ name: 'a', priority: 1 })
    await stage().put({ name: 'same' })
    const config = { schedules: [schedule('a'), schedule('same')] }
    await expect(apply(stage(), config)).rejects.toMatchObject({ code: 'conflict', details: { schedule: 'a' } })
    expect((await stage().view('same')).managedBy).toBeUndefined()
    await apply(stage(), config, { adopt: true })
    expect(await stage().view('a')).toMatchObject({ managedBy: 'ops', version: 2 })
    expect(await stage().view('same')).toMatchObject({ managedBy: 'ops', version: 1 })
  })

  it('says the whole of a policy: what it no longer says is as a new queue has it', async () => {
    await apply(stage(), { queues: [{ name: 'mail', policy: { maxConcurrent: 4, maxConcurrentPerKey: 2 } }] })
    const { queues } = await apply(stage(), { queues: [{ name: 'mail', policy: { maxAttempts: 9 } }] })
    expect(queues).toMatchObject([{ name: 'mail', answer: 'updated', before: { policy: { maxConcurrent: 4 } } }])
    const whole = { ...defaultPolicy, maxConcurrent: 1, maxAttempts: 9 }
    expect((await stage().store.look(findQueue, 'mail'))?.policy).toEqual(whole)
    const left = await apply(stage(), {})
    expect(left.queues).toMatchObject([{ name: 'mail', answer: 'left' }])
    const after = await stage().store.look(findQueue, 'mail')
    expect(after).toMatchObject({ policy: whole })
    expect(after?.managedBy).toBeUndefined()
  })

  it('says the whole of where somebody is told of a queue, and nobody else says it', async () => {
    const { store } = stage()
    const http = { http: { url: 'https://example.org/', method: 'POST' } }
    await apply(stage(), { queues: [{ name: 'mail', policy: { onPark: http } }] })
    expect((await store.look(findQueue, 'mail'))?.policy).toMatchObject({ onPark: http })
    const change = { policy: { onFailure: http }, actor }
    await expect(store.do(setQueue, 'mail', change)).rejects.toMatchObject({ details: { managedBy: 'ops' } })
    await apply(stage(), { queues: [{ name: 'mail', policy: {} }] })
    expect((await store.look(findQueue, 'mail'))?.policy).not.toHaveProperty('onPark')
  })

  it('leaves nothing behind when anything in it cannot be', async () => {
    await stage().put({ name: 'z', priority: 1 })
    const config = {
      queues: [{ name: 'mail', policy: { maxConcurrent: 4 } }],
      schedules: [schedule('a'), schedule('z')],
    }
    await expect(apply(stage(), config)).rejects.toMatchObject({ code: 'conflict' })
    expect(await names(stage())).toEqual(['z'])
    expect(await stage().store.look(findQueue, 'mail')).toBeNull()
    expect(await stage().store.look(listConfigs)).toEqual([])
  })

  it('is remembered with all that its source ever said', async () => {
    await apply(stage(), { hash: 'one' })
    stage().pass(1_000)
    await apply(stage(), { hash: 'two' })
    expect(await stage().store.look(listConfigs)).toMatchObject([
      { source: 'ops', hash: 'two', file: 'h:/f', appliedAt: stage().clock.now, actor: 'tester', door: 'test' },
    ])
    expect(await stage().store.look(configApplied, 'ops', 'one')).toBe(stage().clock.now - 1_000)
    expect(await stage().store.look(configApplied, 'ops', 'three')).toBeNull()
    expect(await stage().store.look(configApplied, 'other', 'one')).toBeNull()
  })

  it('answers as ever in a rehearsal, and leaves nothing', async () => {
    const rehearsal = stage().store.rehearsal()
    const config = { source: 'ops', hash: 'h', file: 'f', queues: [], schedules: [schedule('a')], tokens: [] }
    expect(await rehearsal.do(applyConfig, config, { actor })).toMatchObject({ schedules: [{ answer: 'created' }] })
    expect(await names(stage())).toEqual([])
  })

  describe('of what it looks after', () => {
    it('nobody else changes what it says, or deletes it', async () => {
      await apply(stage(), { schedules: [schedule('a')], queues: [{ name: 'mail', policy: {} }] })
      const managed = { code: 'conflict', details: expect.objectContaining({ managedBy: 'ops' }) }
      await expect(stage().put({ name: 'a', priority: 5 })).rejects.toMatchObject(managed)
      await expect(stage().store.do(deleteSchedule, 'a')).rejects.toMatchObject(managed)
      await expect(stage().store.do(setQueue, 'mail', { policy: { maxConcurrent: 9 }, actor })).rejects.toMatchObject(
        managed,
      )
      expect(await stage().view('a')).toMatchObject({ version: 1, deletedAt: null })
    })

    it('everybody may pause, resume, run and hint it, and pause its queue', async () => {
      await apply(stage(), { schedules: [schedule('a')], queues: [{ name: 'mail', policy: {} }] })
      const { store } = stage()
      expect(await store.do(pauseSchedule, 'a', { reason: 'r' })).toBe('paused')
      expect(await store.do(resumeSchedule, 'a')).toBe('resumed')
      expect(await store.do(runNow, 'a')).toMatchObject({ answer: 'created' })
      const hint = {
        kind: 'interval',
        ms: 60_000,
        expiresAt: stage().clock.now + 60_000,
        reason: 'r',
        author: 'a',
      } as const
      expect(await store.do(setHint, 'a', hint)).toMatchObject({ answer: 'set' })
      expect(await store.do(setQueue, 'mail', { paused: { reason: 'r' }, actor })).toMatchObject({ answer: 'updated' })
    })

    it('a pause outlives the file that is applied again', async () => {
      await apply(stage(), { schedules: [schedule('a')] })
      await stage().store.do(pauseSchedule, 'a', { reason: 'r' })
      await apply(stage(), { schedules: [schedule('a', { priority: 5 })] })
      expect((await stage().view('a')).disabled).toMatchObject({ reason: 'r' })
    })
  })

  describe('that says what tokens may do', () => {
    const ci = { name: 'ci', hash: 'h', scope: 'admin' }

    it('changes their scope, and nobody makes one with another', async () => {
      await stage().store.do(createToken, ci, { actor })
      const { tokens } = await apply(stage(), {
        tokens: [
          { name: 'ci', scope: 'read' },
          { name: 'later', scope: 'operate' },
        ],
      })
      expect(tokens).toEqual([
        { name: 'ci', answer: 'set', scope: 'read', was: 'admin' },
        { name: 'later', answer: 'absent', scope: 'operate', was: null },
      ])
      expect(await stage().store.look(listTokens)).toMatchObject([{ name: 'ci', scope: 'read', managedBy: 'ops' }])
      await expect(stage().store.do(createToken, { ...ci, name: 'later' }, { actor })).rejects.toMatchObject({
        code: 'conflict',
        details: { scope: 'operate', managedBy: 'ops' },
      })
      const made = await stage().store.do(createToken, { ...ci, name: 'later', scope: 'operate' }, { actor })
      expect(made.token).toMatchObject({ scope: 'operate', managedBy: 'ops' })
    })

    it('cannot have a token that another source looks after, though nobody has made it yet', async () => {
      await apply(stage(), { source: 'other', tokens: [{ name: 'ci', scope: 'read' }] })
      await expect(apply(stage(), { tokens: [{ name: 'ci', scope: 'admin' }] })).rejects.toMatchObject({
        code: 'conflict',
        details: { token: 'ci', managedBy: 'other' },
      })
      await apply(stage(), { source: 'other' })
      await apply(stage(), { tokens: [{ name: 'ci', scope: 'admin' }] })
    })

    it('tells in the audit whose scope it changed, from what and to what', async () => {
      await stage().store.do(createToken, ci, { actor })
      for (const scope of ['read', 'read', 'operate']) await apply(stage(), { tokens: [{ name: 'ci', scope }] })
      const lines = await stage().store.look(listAudit, 'token ci')
      expect(lines.map(({ verb, detail }) => [verb, detail])).toEqual([
        ['token.update', { scope: 'operate', was: 'read', source: 'ops' }],
        ['token.update', { scope: 'read', was: 'admin', source: 'ops' }],
        ['token.create', expect.anything()],
      ])
    })

    it('leaves a token that it no longer names as it is', async () => {
      await stage().store.do(createToken, ci, { actor })
      await apply(stage(), { tokens: [{ name: 'ci', scope: 'read' }] })
      expect((await apply(stage(), {})).tokens).toMatchObject([{ name: 'ci', answer: 'left', scope: 'read' }])
      const [token] = await stage().store.look(listTokens)
      expect(token).toMatchObject({ scope: 'read' })
      expect(token?.managedBy).toBeUndefined()
    })
  })

  it('with which something is wrong is told since when, until nothing is', async () => {
    const { store } = stage()
    await store.do(noteConfigFault, 'h:/f', 'It has no source.')
    const since = stage().clock.now
    stage().pass(1_000)
    await store.do(noteConfigFault, 'h:/f', 'It has no source.')
    expect(await store.look(configFaults)).toEqual([{ file: 'h:/f', says: 'It has no source.', at: since }])
    await store.do(noteConfigFault, 'h:/f', 'It has a bad cron.')
    expect(await store.look(configFaults)).toMatchObject([{ says: 'It has a bad cron.', at: since + 1_000 }])
    await store.do(noteConfigFault, 'h:/f', null)
    expect(await store.look(configFaults)).toEqual([])
  })

  it('that nobody has looked at for long is no fault of anybody any more', async () => {
    const { store } = stage()
    await store.do(noteConfigFault, 'gone:/f', 'It has no source.')
    stage().pass(599_999)
    expect(await store.look(configFaults)).toHaveLength(1)
    stage().pass(1)
    expect(await store.look(configFaults)).toEqual([])
    await store.do(noteConfigFault, 'gone:/f', 'It has no source.')
    expect(await store.look(configFaults)).toMatchObject([{ at: stage().clock.now - 600_000 }])
  })
})
