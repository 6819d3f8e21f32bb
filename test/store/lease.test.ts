import { expect, test } from 'vitest'
import { liftHolds } from '../../src/store/holds/lift-hold.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import { leasesOf } from '../../src/store/leases/lease.ts'
import type { LeaseAnswer } from '../../src/store/port.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { stop, stopped } from '../holding.ts'
import { numberOf, onEachWay, type Scene, startAt } from './scene.ts'

const can = { kinds: ['handler', 'http'], host: true }
let claims = 0

const leaseOnce = (scene: Scene) =>
  scene.leaseByStore({ queue: 'default', workerId: 'w-11', claimId: `own ${++claims}`, can, limit: 100 })

/** Asks as long as there may be more to get at once. */
const leaseAll = async (scene: Scene): Promise<LeaseAnswer> => {
  const answer = await leaseOnce(scene)
  if (!answer.more) return answer
  const rest = await leaseAll(scene)
  return { ...rest, leases: [...answer.leases, ...rest.leases], broken: [...answer.broken, ...rest.broken] }
}

/** What a disk, or a person with a shell, may leave of one column of a run. */
const damage = (scene: Scene, id: string, column: string, text: string) =>
  scene.sql(`update belfry.run set ${column} = $2 where id = $1`, numberOf(id), text)

onEachWay('lease what can be read', (scene) => {
  test.each([
    ['payload', '{'],
    ['payload', ''],
    ['target', '{"handler"'],
    ['target', '"handler"'],
    ['options', 'null}'],
    ['options', '[]'],
  ])('a run with a damaged %s (%s) is parked with the reason, and those around it are leased', async (column, text) => {
    const input = { target: { handler: 'a' }, payload: { a: 1 }, options: { tags: ['x'] } }
    const ids = [await scene().enqueue(input), await scene().enqueue(input), await scene().enqueue(input)]
    const odd = ids[1] as string
    await damage(scene(), odd, column, text)

    const answer = await leaseAll(scene())
    expect(answer.leases.map(({ runId }) => runId)).toEqual([ids[0], ids[2]])
    const reason = `unreadable: ${column}`
    expect(answer).toMatchObject({ broken: [{ runId: odd, fence: 1, scheduleId: null, reason }], skipped: [] })
    expect((await leaseAll(scene())).broken).toEqual([])
    const parked = { status: 'parked', fence: 1, attempts: 1, parked: { at: startAt, reason } }
    expect(await scene().show(odd)).toMatchObject({ ...parked, [column]: expect.anything() })
  })

  test('a run that cannot be read does not hide the page of runs it is on', async () => {
    const ids = [await scene().enqueue({ payload: 1 }), await scene().enqueue({ payload: 2 })]
    await damage(scene(), ids[0] as string, 'payload', '{"a":')
    await damage(scene(), ids[0] as string, 'target', 'x')
    const page = await scene().read((context) => listRuns(context, { limit: 10 }))
    expect(page.runs.map(({ id }) => id).sort()).toEqual(ids)
    const shown = { payload: { unreadable: '{"a":' }, target: { unreadable: 'x' } }
    expect(await scene().show(ids[0] as string)).toMatchObject(shown)
  })

  test('mended by hand and reset, it goes under a fence that was never used', async () => {
    const id = await scene().enqueue({ target: { handler: 'a' }, payload: 1 })
    await damage(scene(), id, 'payload', '{')
    await leaseAll(scene())
    await damage(scene(), id, 'payload', '[2]')
    expect(await scene().write((context) => resetRun(context, id))).toBe('ready')
    expect((await leaseAll(scene())).leases).toMatchObject([{ runId: id, fence: 2, payload: [2] }])
  })

  test('its key, its dedupe key and its schedule go on without it', async () => {
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    const scheduleId = await scene().schedule()
    const odd = await scene().occurrence(scheduleId, startAt, { concurrencyKey: 'k', dedupeKey: 'd', payload: 1 })
    const next = await scene().enqueue({ concurrencyKey: 'k' })
    await damage(scene(), odd, 'payload', '{')

    const answer = await leaseAll(scene())
    expect(answer.leases.map(({ runId }) => runId)).toEqual([next])
    expect(answer.broken).toMatchObject([{ runId: odd, scheduleId: expect.stringMatching(/^s-/) }])
    expect(await scene().sql('select 1 from belfry.schedule_run where schedule_id = $1', scheduleId)).toEqual([])
    expect(await scene().enqueue({ dedupeKey: 'd' })).not.toBe(odd)
  })

  test('what came too late is not even read', async () => {
    const id = await scene().enqueue({ payload: 1, deadline: startAt + 10 })
    await damage(scene(), id, 'payload', '{')
    scene().clock.now = startAt + 10
    expect(await leaseAll(scene())).toMatchObject({ skipped: [{ runId: id, reason: 'deadline' }], broken: [] })
  })

  test('a hundred of them at the head of the line keep nobody behind them waiting', async () => {
    for (let index = 0; index < 100; index++) await scene().enqueue({ payload: index })
    await scene().sql(`update belfry.run set payload = '{' where ns = $1`, scene().context.ns)
    const behind = await scene().enqueue({ payload: 'sound' })
    const answer = await leaseAll(scene())
    expect(answer.leases.map(({ runId }) => runId)).toEqual([behind])
    expect(answer.broken).toHaveLength(100)
  })

  test('a lease that was damaged since it was granted is left out of its claim, and the others of it are told', async () => {
    const ids = [await scene().enqueue({ payload: 1 }), await scene().enqueue({ payload: 2 })]
    const [first] = (await leaseAll(scene())).leases
    await damage(scene(), ids[0] as string, 'payload', '{')
    const granted = await scene().read((context) => leasesOf(context, first?.claimId ?? ''))
    expect(granted).toMatchObject([{ runId: ids[1], payload: 2 }])
  })
})

onEachWay('lease what may go', (scene) => {
  test('a stopped namespace leases nothing, says so, and goes on when it is no longer stopped', async () => {
    const id = await scene().enqueue()
    const put = await scene().write((context) => putHold(context, stop))
    const hold = put.answer === 'put' ? put.hold.id : null
    expect(await leaseAll(scene())).toMatchObject({ leases: [], stopped: 'held-by', hold })
    await scene().write((context) => liftHolds(context, stopped, { actor: stop.actor }))
    expect((await leaseAll(scene())).leases.map(({ runId }) => runId)).toEqual([id])
  })

  test('the starts of a queue count for its rate from claim to claim, and no longer than its window', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 50, rateLimit: { startsMax: 3, perMs: 60_000 } } })
    for (let run = 0; run < 9; run++) await scene().enqueue()
    const started = async () => (await leaseAll(scene())).leases.length
    expect([await started(), await started()]).toEqual([3, 0])
    scene().clock.now += 59_999
    expect(await started()).toBe(0)
    scene().clock.now += 1
    expect([await started(), await started()]).toEqual([3, 0])
  })

  test('a run of a full key that stands between those that go keeps its place, and goes when its key has room', async () => {
    const ids: string[] = []
    for (const key of [null, 'k', 'k', null]) {
      ids.push(await scene().enqueue(key === null ? {} : { concurrencyKey: key }))
    }
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    const { leases } = await leaseAll(scene())
    expect(leases.map(({ runId }) => runId)).toEqual([ids[0], ids[1], ids[3]])
    for (const held of leases) await scene().end(held)
    expect((await leaseAll(scene())).leases.map(({ runId }) => runId)).toEqual([ids[2]])
  })
})
