import { beforeEach, expect, test, vi } from 'vitest'
import { lease } from '../../src/store/leases/lease.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import type { OccurrenceEnd } from '../../src/store/schedules/occurrence-end.ts'
import { both, one, type Row } from '../../src/store/statement.ts'
import { numberOf, onEachDatabase, type Scene, startAt } from './scene.ts'

const told = vi.hoisted(() => ({ ends: [] as OccurrenceEnd[] }))
vi.mock('../../src/store/schedules/occurrence-end.ts', () => ({
  // biome-ignore lint/correctness/useYield: stands in for a step that asks the database nothing.
  *occurrencesEnded(_now: number, _schedules: unknown, ends: readonly OccurrenceEnd[]) {
    told.ends.push(...ends)
    return new Map()
  },
}))

beforeEach(() => {
  told.ends.length = 0
})

const claim = { queue: 'default', can: { kinds: ['handler'], host: true }, limit: 9 }

const cancelled = (scene: Scene, id: string, reason = 'not needed') =>
  scene.write((context) => cancelRun(context, id, reason))

onEachDatabase('cancel', (scene) => {
  test('a run in line ends at once and is not leased afterwards', async () => {
    const id = await scene().enqueue()
    expect(await cancelled(scene(), id)).toBe('cancelled')
    expect(await scene().show(id)).toMatchObject({
      status: 'cancelled',
      end: { status: 'cancelled', at: startAt, reason: 'not needed' },
    })
    expect(await scene().lease()).toEqual([])
    expect(await scene().read((context) => listAttempts(context, id))).toMatchObject([
      { fence: 0, outcome: 'cancelled' },
    ])
  })

  test('a run that waits for its instant ends at once and does not come back when the instant comes', async () => {
    const id = await scene().enqueue({ notBefore: startAt + 1_000 })
    expect(await cancelled(scene(), id)).toBe('cancelled')
    scene().clock.now += 2_000
    expect(await scene().lease()).toEqual([])
  })

  test('a leased run goes on until its holder ends it, and the first request stands', async () => {
    const id = await scene().enqueue()
    const held = await scene().leaseOf(id)
    expect(await cancelled(scene(), id, 'first')).toBe('cancel-requested')
    scene().clock.now += 5
    expect(await cancelled(scene(), id, 'second')).toBe('already-requested')
    expect((await scene().show(id))?.lease).toMatchObject({ cancelRequestedAt: startAt, cancelReason: 'first' })
    expect(await scene().end(held, { kind: 'cancelled', reason: 'first' })).toMatchObject({ status: 'cancelled' })
    expect(await cancelled(scene(), id)).toBe('already-ended')
  })

  test('an ended run stays as it ended', async () => {
    const id = await scene().ended()
    expect(await cancelled(scene(), id)).toBe('already-ended')
    expect((await scene().show(id))?.status).toBe('completed')
  })

  test('a run of another namespace is not found', async () => {
    const id = await scene().enqueue()
    const other = { ...scene().context, ns: scene().context.ns + 1_000_000 }
    expect(await scene().write(() => cancelRun(other, id, 'not mine'))).toBe('not-found')
    expect((await scene().show(id))?.status).toBe('ready')
  })

  test('what is no id, or no reason, is refused', async () => {
    await expect(cancelled(scene(), 'run 7')).rejects.toThrow('runId is "run 7"; it must be the id of a run')
    const id = await scene().enqueue()
    await expect(cancelled(scene(), id, '')).rejects.toThrow('reason is empty')
  })

  test('the next run behind a full key goes when the one in line before it is cancelled', async () => {
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    const first = await scene().enqueue({ concurrencyKey: 'k' })
    const second = await scene().enqueue({ concurrencyKey: 'k' })
    expect((await scene().show(second))?.waiting).toMatchObject({ for: 'key' })
    await cancelled(scene(), first)
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([second])
  })

  test('the dedupe key of a cancelled run is free at once', async () => {
    const first = await scene().enqueue({ dedupeKey: 'once' })
    await cancelled(scene(), first)
    expect(await scene().enqueue({ dedupeKey: 'once' })).not.toBe(first)
  })

  test('a cancelled occurrence is told to its schedule once, and one that was parked not again', async () => {
    const scheduleId = await scene().schedule()
    const ready = await scene().occurrence(scheduleId, startAt)
    await cancelled(scene(), ready)
    expect(told.ends).toMatchObject([{ runId: numberOf(ready), scheduleId, status: 'cancelled' }])

    const parked = await scene().occurrence(scheduleId, startAt + 1, { onExhausted: 'park' })
    await scene().end(await scene().leaseOf(parked), { kind: 'failed', reason: 'broken', retryable: false })
    expect(told.ends.at(-1)).toMatchObject({ runId: numberOf(parked), status: 'parked' })
    expect(await cancelled(scene(), parked)).toBe('cancelled')
    expect((await scene().show(parked))?.status).toBe('cancelled')
    expect(told.ends.filter(({ runId }) => runId === numberOf(parked))).toHaveLength(1)
  })

  test('many who cancel and lease one run at the same moment leave it either cancelled or asked for', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await scene().enqueue()
      const [leases, ...answers] = await Promise.all([
        scene().lease(),
        cancelled(scene(), id),
        cancelled(scene(), id),
        cancelled(scene(), id),
      ])
      const wanted = leases.length === 0 ? ['already-ended', 'already-ended', 'cancelled'] : null
      if (wanted !== null) expect(answers.toSorted()).toEqual(wanted)
      else {
        expect(answers.toSorted()).toEqual(['already-requested', 'already-requested', 'cancel-requested'])
        for (const held of leases) await scene().end(held, { kind: 'cancelled' })
      }
      const rows = 'select count(*) as rows from belfry.attempt where run_id = $1 and ends is not null'
      expect(await scene().read(() => one(both('test ends of run', rows), numberOf(id)))).toEqual({ rows: 1 })
    }
  })

  test('a run that is leased while it is looked for is asked to end, and not taken for one that was asked before', async ({
    skip,
  }) => {
    skip(scene().dialect === 'sqlite', 'nobody else writes between the statements of a step')
    const id = await scene().enqueue()
    let tries = 0
    const answer = await scene().write(function* (context) {
      tries++
      const step = cancelRun(context, id, 'not needed')
      let turn = step.next()
      while (!turn.done) {
        const rows: Row[] = yield turn.value
        const isRequest = 'statement' in turn.value && turn.value.statement.name === 'cancel request'
        // What another's commit would have done by now is done here, and rolled back with the step.
        if (isRequest && tries === 1) yield* lease(context, { ...claim, workerId: 'w-11', claimId: 'c' })
        turn = step.next(rows)
      }
      return turn.value
    })
    expect([answer, tries]).toEqual(['cancelled', 2])
  })
})
