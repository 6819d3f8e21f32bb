import { expect, test } from 'vitest'
import { prune } from '../../src/store/prune/prune.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { appendOutput } from '../../src/store/runs/append-output.ts'
import { takeDuty } from '../../src/store/workers/take-duty.ts'
import { numberOf, onEachDatabase, type Scene, startAt } from './scene.ts'

const dayMs = 86_400_000

/** A whole round, in steps of so many rows. */
async function pruneAll(scene: Scene, limit = 1_000) {
  const sum = { runs: 0, ledger: 0, other: 0, steps: 0 }
  for (let from: string | undefined; ; ) {
    const step = await scene.write((context) => prune(context, { limit, ...(from !== undefined && { from }) }))
    sum.runs += step.runs
    sum.ledger += step.ledger
    sum.other += step.other
    sum.steps++
    if (step.next === null) return sum
    from = step.next
    if (sum.steps > 1_000) throw new Error('the round does not end')
  }
}

const failed = { kind: 'failed', reason: 'broken', retryable: false } as const
const isKept = async (scene: Scene, id: string) => (await scene.show(id)) !== null
const countOf = async (scene: Scene, table: string) =>
  (await scene.sql(`select count(*) as rows from belfry.${table} where ns = $1`, scene.context.ns))[0]?.rows

onEachDatabase('prune', (scene) => {
  test('ended runs go when their queue no longer keeps them, failed ones later, with all that was kept of them', async () => {
    const completed = await scene().enqueue()
    const held = await scene().leaseOf(completed)
    await scene().write((context) => appendOutput(context, held, 'text'))
    await scene().end(held, { kind: 'success' }, { rows: 3 })
    const failing = await scene().ended({ onExhausted: 'fail' }, failed)
    scene().clock.now += 7 * dayMs - 1
    expect(await pruneAll(scene())).toMatchObject({ runs: 0 })
    scene().clock.now += 1
    expect(await pruneAll(scene())).toMatchObject({ runs: 1 })
    expect(await isKept(scene(), completed)).toBe(false)
    expect(await isKept(scene(), failing)).toBe(true)
    for (const table of ['output', 'result']) expect(await countOf(scene(), table)).toBe(0)
    expect(await countOf(scene(), 'attempt')).toBe(1)
    scene().clock.now += 23 * dayMs
    expect(await pruneAll(scene())).toMatchObject({ runs: 1 })
    expect(await countOf(scene(), 'run')).toBe(0)
  })

  test('live and parked work is never touched, however old', async () => {
    await scene().setQueue('default', { policy: { retention: { completedMs: 0, failedMs: 0, endedRunsMax: 0 } } })
    const parked = await scene().parked()
    const leased = await scene().enqueue()
    await scene().lease()
    const ready = await scene().enqueue()
    const waiting = await scene().enqueue({ notBefore: startAt + 10_000 * dayMs })
    scene().clock.now += 1_000 * dayMs
    expect(await pruneAll(scene())).toMatchObject({ runs: 0 })
    for (const id of [parked, leased, ready, waiting]) expect(await isKept(scene(), id)).toBe(true)
  })

  test('a step removes no more rows than it may, but always something', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 100 } })
    for (let run = 0; run < 10; run++) await scene().ended()
    scene().clock.now += 8 * dayMs
    const step = await scene().write((context) => prune(context, { limit: 4 }))
    expect(step).toMatchObject({ runs: 2, next: expect.any(String) })
    const one = await scene().write((context) => prune(context, { limit: 1 }))
    expect(one.runs).toBe(1)
    expect(await pruneAll(scene(), 3)).toMatchObject({ runs: 7 })
    await expect(scene().write((context) => prune(context, { limit: 1, from: 'x' }))).rejects.toThrow('from is "x"')
  })

  test('of more ended runs than a queue keeps the oldest go, whatever their status', async () => {
    const ids = []
    for (let run = 0; run < 6; run++) {
      ids.push(run % 2 === 0 ? await scene().ended() : await scene().ended({ onExhausted: 'fail' }, failed))
      scene().clock.now += 1
    }
    const other = await scene().ended({ queue: 'other' })
    await scene().setQueue('default', { policy: { retention: { endedRunsMax: 4 } } })
    expect(await pruneAll(scene())).toMatchObject({ runs: 2 })
    const kept = await Promise.all(ids.map((id) => isKept(scene(), id)))
    expect(kept).toEqual([false, false, true, true, true, true])
    expect(await isKept(scene(), other)).toBe(true)
    await scene().setQueue('default', { policy: { retention: { endedRunsMax: 1 } } })
    expect(await pruneAll(scene(), 2)).toMatchObject({ runs: 3 })
  })

  test('parked runs end by retention only where the policy says so, counted, and go later like other cancelled ones', async () => {
    const parked = await scene().parked({ dedupeKey: 'd' })
    scene().clock.now += 50 * dayMs
    await pruneAll(scene())
    expect((await scene().show(parked))?.status).toBe('parked')
    await scene().setQueue('default', { policy: { retention: { parkedMs: 40 * dayMs } } })
    const young = await scene().parked()
    expect(await pruneAll(scene())).toMatchObject({ runs: 0, other: 1 })
    expect(await scene().show(parked)).toMatchObject({ status: 'cancelled', end: { reason: 'retention' } })
    expect((await scene().show(young))?.status).toBe('parked')
    scene().clock.now += 7 * dayMs
    expect(await pruneAll(scene())).toMatchObject({ runs: 1 })
  })

  test('ledger rows go by age, but not that of an occurrence whose run is live, nor one that was extended', async () => {
    const scheduleId = await scene().schedule()
    const live = await scene().occurrence(scheduleId)
    const ledger = `insert into belfry.ledger (ns, schedule_id, from_at, to_at, count, outcome, run_id, recorded_at, ended_at)
      values ($1, $2, $3, $4, 1, $5, $6, $7, $8)`
    const insert = (from: number, to: number, run: string | null, endedAt: number | null) =>
      scene().sql(
        ledger,
        scene().context.ns,
        scheduleId,
        from,
        to,
        'x',
        run === null ? null : numberOf(run),
        from,
        endedAt,
      )
    await insert(startAt, startAt, live, null)
    await insert(startAt + 1, startAt + 1, 'r-19', startAt + 1)
    await insert(startAt + 2, startAt + 80 * dayMs, null, null)
    await insert(startAt + 3, startAt + 3, null, null)
    scene().clock.now = startAt + 90 * dayMs + 10
    expect(await pruneAll(scene())).toMatchObject({ ledger: 2 })
    const rows = await scene().sql(
      'select from_at from belfry.ledger where schedule_id = $1 order by from_at',
      scheduleId,
    )
    expect(rows).toEqual([{ from_at: startAt }, { from_at: startAt + 2 }])
  })

  test('a deleted schedule goes when neither its runs nor its ledger speak of it, a live one never', async () => {
    const deleted = await scene().schedule({ name: 'old' }, startAt)
    const alive = await scene().schedule({ name: 'new' })
    const hint = `insert into belfry.hint (id, ns, schedule_id, kind, value, expires_at, reason, author, created_at)
      values ($1, $2, $3, 'interval', 5, $4, 'r', 'a', $4)`
    await scene().sql(hint, 1_000_000 + scene().context.ns, scene().context.ns, deleted, startAt)
    const id = await scene().occurrence(deleted)
    await scene().end(await scene().leaseOf(id))
    const left = () => scene().sql('select id from belfry.schedule where ns = $1 order by id', scene().context.ns)
    scene().clock.now += 89 * dayMs
    await pruneAll(scene())
    expect(await left()).toHaveLength(2)
    scene().clock.now += dayMs
    await pruneAll(scene())
    expect(await left()).toEqual([{ id: alive }])
    expect(await countOf(scene(), 'hint')).toBe(0)
  })

  test('keys, workers, duties and starts go when nobody can ask for them any more', async () => {
    await scene().setQueue('default', { policy: { rateLimit: { startsMax: 5, perMs: 2 * dayMs } } })
    await scene().enqueue({ idempotencyKey: 'i' })
    const [gone, alive] = [await scene().registerWorker(), await scene().registerWorker()]
    await scene().lease({ workerId: alive, can: { kinds: [], host: true } })
    await scene().write((context) => takeDuty(context, { name: 'd', workerId: gone, forMs: 1_000 }))
    scene().clock.now += 2 * dayMs - 1
    await pruneAll(scene())
    expect(await countOf(scene(), 'start')).toBe(1)
    expect(await countOf(scene(), 'duty')).toBe(0)
    scene().clock.now += 5 * dayMs + 1
    await pruneAll(scene())
    expect(await countOf(scene(), 'start')).toBe(0)
    expect((await scene().read(listWorkers)).map(({ id }) => id)).toEqual([alive])
    scene().clock.now += 23 * dayMs - 1
    await pruneAll(scene())
    expect(await countOf(scene(), 'idempotency')).toBe(1)
    scene().clock.now += 1
    await pruneAll(scene())
    expect(await countOf(scene(), 'idempotency')).toBe(0)
    expect(await countOf(scene(), 'audit')).toBe(1)
    scene().clock.now += 336 * dayMs
    await pruneAll(scene())
    expect(await countOf(scene(), 'audit')).toBe(0)
  })
})
