import { expect, test } from 'vitest'
import type { Capabilities } from '../../src/core/queue/plan-leases.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { beat, registerWorker } from '../../src/store/workers/register-worker.ts'
import { takeDuty } from '../../src/store/workers/take-duty.ts'
import { onEachDatabase, type Scene, startAt } from './scene.ts'

const take = (scene: Scene, workerId: string, name = 'retention', forMs = 1_000) =>
  scene.write((context) => takeDuty(context, { name, workerId, forMs }))

onEachDatabase('worker', (scene) => {
  test('a worker is shown as it registered', async () => {
    const process = { pid: 7, startedAt: '123', bootId: 'boot', pidNamespace: 'pid:[1]' }
    const can = { kinds: ['http'], handlers: ['mail'], host: true }
    const worker = { name: 'night', host: 'box', can, slots: 3, beatMs: 60_000, process }
    const id = await scene().write((context) => registerWorker(context, worker))
    const { ...shown } = worker
    expect(await scene().read(listWorkers)).toEqual([
      {
        ...shown,
        id,
        startedAt: startAt,
        beatAt: startAt,
        stoppedAt: null,
        diedAt: null,
        halted: null,
        isHost: false,
        lost: null,
      },
    ])
  })

  test('a beat moves what is known of a worker, and a stop is final', async () => {
    const id = await scene().registerWorker()
    scene().clock.now += 60_000
    expect(await scene().write((context) => beat(context, [id]))).toEqual({ unknown: [] })
    expect(await scene().read(listWorkers)).toMatchObject([{ beatAt: startAt + 60_000, stoppedAt: null }])
    scene().clock.now += 1
    await scene().write((context) => beat(context, [id], { stopped: true }))
    scene().clock.now += 1
    expect(await scene().write((context) => beat(context, [id]))).toEqual({ unknown: [] })
    expect(await scene().read(listWorkers)).toMatchObject([{ beatAt: startAt + 60_001, stoppedAt: startAt + 60_001 }])
  })

  test('a beat says what workers can do by now, one that is silent leaves it, and bad words change nothing', async () => {
    const [one, two] = [await scene().registerWorker(), await scene().registerWorker()]
    const can = { kinds: ['http'], handlers: ['mail'] }
    await scene().write((context) => beat(context, [one], { can }))
    await scene().write((context) => beat(context, [one, two]))
    expect(await scene().read(listWorkers)).toMatchObject([{ can }, { can: { kinds: ['handler'] } }])
    scene().clock.now += 5
    const bad = { kinds: ['http'], handlers: [() => 1] } as unknown as Capabilities
    await expect(scene().write((context) => beat(context, [one], { can: bad }))).rejects.toThrow(/can\.?.*handlers/)
    expect(await scene().read(listWorkers)).toMatchObject([{ can, beatAt: startAt }, {}])
  })

  test('a worker that the store does not know is told so, and the others beat all the same', async () => {
    const id = await scene().registerWorker()
    scene().clock.now += 5
    expect(await scene().write((context) => beat(context, [id, 'w-5zzzzz']))).toEqual({ unknown: ['w-5zzzzz'] })
    expect(await scene().read(listWorkers)).toMatchObject([{ beatAt: startAt + 5 }])
  })

  test('a duty belongs to one worker until it expires, and its holder may take it again', async () => {
    const [one, two] = [await scene().registerWorker(), await scene().registerWorker()]
    expect(await take(scene(), one)).toBe(true)
    expect(await take(scene(), two)).toBe(false)
    scene().clock.now += 900
    expect(await take(scene(), one)).toBe(true)
    scene().clock.now += 900
    expect(await take(scene(), two)).toBe(false)
    scene().clock.now += 100
    expect(await take(scene(), two)).toBe(true)
    expect(await take(scene(), one)).toBe(false)
    expect(await take(scene(), one, 'reconcile')).toBe(true)
  })

  test('of many who want a free duty at the same moment one gets it', async () => {
    const ids = []
    for (let index = 0; index < 8; index++) ids.push(await scene().registerWorker())
    const answers = await Promise.all(ids.map((id) => take(scene(), id)))
    expect(answers.filter((answer) => answer)).toHaveLength(1)
  })
})
