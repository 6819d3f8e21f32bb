import { expect, test } from 'vitest'
import { defaultPolicy } from '../../src/core/queue/policy.ts'
import type { QueueChange } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findQueue, listQueues } from '../../src/store/reads/find-queue.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { listAudit } from './list-audit.ts'
import { actor, onEachWay, type Scene, startAt } from './scene.ts'

const shown = (scene: Scene, name: string) => scene.read((context) => findQueue(context, name))
const versions = (scene: Scene) =>
  scene.sql(
    `select v.version, v.actor from belfry.queue_version v where v.ns = $1 order by v.queue_id, v.version`,
    scene.context.ns,
  )

onEachWay('setQueue', (scene) => {
  test('a new queue has the conservative policy of one named by chance, with what was asked for', async () => {
    const { answer, queue: view } = await scene().setQueue('mail', { policy: { maxAttempts: 9 } })
    expect(answer).toBe('created')
    expect(view).toEqual({
      name: 'mail',
      policy: { ...defaultPolicy, maxConcurrent: 1, maxAttempts: 9 },
      policyVersion: 1,
      paused: null,
      inFlight: 0,
      createdAt: startAt,
    })
    expect(await versions(scene())).toEqual([{ version: 1, actor: 'tester' }])
    expect((await scene().setQueue('default', {})).queue?.policy?.maxConcurrent).toBe(5)
  })

  test('a change that changes nothing makes no version and no record', async () => {
    await scene().setQueue('mail', { policy: { maxConcurrent: 4 } })
    expect((await scene().setQueue('mail', { policy: { maxConcurrent: 4 } })).answer).toBe('unchanged')
    expect((await scene().setQueue('mail', { paused: false })).answer).toBe('unchanged')
    expect(await versions(scene())).toHaveLength(1)
    expect(await scene().read((context) => listAudit(context, 'queue mail'))).toHaveLength(1)
  })

  test('every new policy is a version, and who made it is on record', async () => {
    await scene().setQueue('mail', {})
    expect(await scene().setQueue('mail', { policy: { maxConcurrent: 4 } })).toMatchObject({
      answer: 'updated',
      queue: { policyVersion: 2, policy: { maxConcurrent: 4, maxAttempts: 3 } },
    })
    expect(await versions(scene())).toMatchObject([{ version: 1 }, { version: 2 }])
    expect(await scene().read((context) => listAudit(context, 'queue mail'))).toMatchObject([
      { verb: 'queue.update', actor: 'tester', door: 'test', detail: { policy: { maxConcurrent: 4 } } },
      { verb: 'queue.create' },
    ])
  })

  test('a policy that is not sound is refused whole, with all its problems, and the old one stays', async () => {
    await scene().setQueue('mail', { policy: { maxConcurrent: 4 } })
    const wrong = { maxConcurrent: 0, maxAttempts: null, leaseTtlMs: 5_000 }
    const change = scene().setQueue('mail', { policy: wrong as never })
    await expect(change).rejects.toThrow(/maxConcurrent is 0.*maxAttempts is missing/)
    expect(await shown(scene(), 'mail')).toMatchObject({ policyVersion: 1, policy: { leaseTtlMs: 300_000 } })
    await expect(scene().setQueue('new', { policy: { maxConcurrent: 0 } })).rejects.toThrow('maxConcurrent is 0')
    expect(await shown(scene(), 'new')).toBeNull()
  })

  test('null takes an optional field away, and retention is changed field by field', async () => {
    await scene().setQueue('mail', { policy: { maxConcurrentPerKey: 2, retention: { completedMs: 5, parkedMs: 7 } } })
    const { queue: view } = await scene().setQueue('mail', {
      policy: { maxConcurrentPerKey: null, retention: { parkedMs: null } },
    })
    expect(view?.policy).toEqual({
      ...defaultPolicy,
      maxConcurrent: 1,
      retention: { ...defaultPolicy.retention, completedMs: 5 },
    })
  })

  test('whoever knows an older version changes nothing', async () => {
    expect(await scene().setQueue('mail', { ifVersion: 3 })).toEqual({ answer: 'version-differs', queue: null })
    await scene().setQueue('mail', { ifVersion: 0 })
    await scene().setQueue('mail', { policy: { maxConcurrent: 2 }, ifVersion: 1 })
    const late = await scene().setQueue('mail', { policy: { maxConcurrent: 9 }, ifVersion: 1 })
    expect(late).toMatchObject({ answer: 'version-differs', queue: { policyVersion: 2, policy: { maxConcurrent: 2 } } })
    expect(await scene().setQueue('mail', { ifVersion: 0 })).toMatchObject({ answer: 'version-differs' })
  })

  test('of many who create a queue at the same moment one does, and the others change it', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => scene().setQueue('race', { policy: { maxConcurrent: n + 1 } })),
    )
    expect(answers.map(({ answer }) => answer).toSorted()).toEqual(['created', 'updated', 'updated', 'updated'])
    expect(await shown(scene(), 'race')).toMatchObject({ policyVersion: 4 })
  })

  test('a paused queue leases nothing and says since when and why, and goes on when it is resumed', async () => {
    await scene().enqueue({ queue: 'mail' })
    await scene().setQueue('mail', { paused: { reason: 'storm' } })
    scene().clock.now += 10
    expect(await scene().setQueue('mail', { paused: { reason: 'flood' } })).toMatchObject({
      answer: 'updated',
      queue: { paused: { at: startAt, reason: 'flood' }, policyVersion: 1 },
    })
    expect(await scene().lease({ queue: 'mail' })).toEqual([])
    await scene().setQueue('mail', { paused: false })
    expect(await scene().lease({ queue: 'mail' })).toHaveLength(1)
  })

  test('raising the ceiling of a key lets the next of each key go at once, in queue order', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 50, maxConcurrentPerKey: 1 } })
    const ids = []
    for (const key of ['a', 'b', 'a', 'b', 'a']) ids.push(await scene().enqueue({ concurrencyKey: key }))
    expect(await scene().lease()).toHaveLength(2)
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 2 } })
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([ids[2], ids[3]])
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: null } })
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([ids[4]])
  })

  test('raising the ceiling of more keys than one step opens lets no key starve', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 10_000, maxConcurrentPerKey: 1 } })
    const ofKey = (key: number) => Array.from({ length: 501 }, () => ({ concurrencyKey: `key ${key}` }))
    await scene().write((context) => enqueue(context, [0, 1, 2, 3, 4].flatMap(ofKey)))
    const first = await scene().lease({ limit: 1_000 })
    expect(first).toHaveLength(5)
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: null } })
    const inLine = () => scene().sql('select run_id from belfry.ready where ns = $1', scene().context.ns)
    expect(await inLine()).toHaveLength(2_000)
    for (const held of first) await scene().end(held)
    expect(await inLine()).toHaveLength(2_500)
  })

  test('raising the ceiling of a thousand keys opens each of them in one step', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 10_000, maxConcurrentPerKey: 1 } })
    const keys = Array.from({ length: 900 }, (_, key) => ({ concurrencyKey: `key ${key}` }))
    await scene().write((context) => enqueue(context, [...keys, ...keys]))
    expect(await scene().lease({ limit: 1_000 })).toHaveLength(900)
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 2 } })
    expect(await scene().lease({ limit: 1_000 })).toHaveLength(900)
  })

  test.each<[object, RegExp]>([
    [{ polcy: { maxConcurrent: 1 } }, /change\.polcy is not known; it must be one of policy, paused, actor, ifVersion/],
    [{ paused: null }, /paused is null; it must be false, or an object with a reason/],
    [{ paused: true }, /paused is true/],
    [{ paused: { reason: 'x', til: 5 } }, /paused\.til is not known/],
    [{ policy: null }, /policy is null; it must be an object/],
    [{ actor: undefined }, /actor is missing; it must be an object with a name and a door/],
    [{ actor: { name: 'x' } }, /actor\.door is undefined/],
    [{ ifVersion: '1' }, /ifVersion is 1/],
  ])('a change that would be misread is refused: %j', async (change, message) => {
    const set = scene().write((context) => setQueue(context, 'mail', { actor, ...change } as QueueChange))
    await expect(set).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(message) })
    expect(await shown(scene(), 'mail')).toBeNull()
  })

  test('a policy that cannot be read is shown as such, and setting it anew opens the queue', async () => {
    await scene().enqueue()
    await scene().sql(`update belfry.queue set policy = '{"maxConcurrent":"many"}' where ns = $1`, scene().context.ns)
    expect((await shown(scene(), 'default'))?.policy).toBeNull()
    expect(await scene().lease()).toEqual([])
    await scene().setQueue('default', { policy: { maxConcurrent: 2 } })
    expect(await scene().lease()).toHaveLength(1)
  })

  test('queues are listed by name with what is in flight', async () => {
    await scene().enqueue({ queue: 'b' })
    await scene().enqueue({ queue: 'a' })
    await scene().lease({ queue: 'a' })
    expect(await scene().read(listQueues)).toMatchObject([
      { name: 'a', inFlight: 1 },
      { name: 'b', inFlight: 0 },
    ])
  })
})
