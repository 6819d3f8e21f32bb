import assert from 'node:assert/strict'
import { parseId } from '../../../src/core/id.ts'
import { defaultPolicy } from '../../../src/core/queue/policy.ts'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import { writeAudit } from '../../../src/store/audit/write-audit.ts'
import type { AttemptEnd, Lease, NewRun, Store } from '../../../src/store/port.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import type { Ends } from '../../../src/store/runs/end-hooks.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import type { Step } from '../../../src/store/statement.ts'
import type { StoreContext } from '../../../src/store/store-context.ts'
import { actor, type Case, enqueueMany, noop, type Stage } from '../place.ts'
import { assertEachRunStandsOnce } from '../record.ts'

const minute = 60_000

/** A part that writes down what its hooks are shown, in the transaction that shows it. */
const witness = {
  name: 'witness',
  *ending(context: StoreContext, { now, ends }: Ends<unknown>): Step<readonly number[]> {
    yield* writtenDown('ending', context, now, ends)
    return []
  },
  *ended(context: StoreContext, { now, ends }: Ends<unknown>): Step<void> {
    yield* writtenDown('ended', context, now, ends)
  },
}

function* writtenDown(hook: string, context: StoreContext, now: number, ends: Ends<unknown>['ends']): Step<void> {
  for (const { ns, runId, fence, outcome, status, isOver } of ends) {
    assert.equal(isOver, status !== 'ready')
    const subject = `${runId}.${fence} ${outcome} ${status === 'ready' || status === 'parked' ? 'null' : status}`
    yield* writeAudit({ ...context, ns }, { actor, verb: `test.${hook}`, subject }, now)
  }
}

/** All that a store can be asked for that ends attempts or runs. */
class Ways {
  readonly stage: Stage
  readonly store: Store
  readonly workerId: string
  readonly #lease: (limit: number, request?: { leaseMs?: number; claimId?: string }) => Promise<Lease[]>

  private constructor(stage: Stage, store: Store, { workerId, lease }: Awaited<ReturnType<Stage['lessor']>>) {
    this.stage = stage
    this.store = store
    this.workerId = workerId
    this.#lease = lease
  }

  static async on(stage: Stage, store: Store): Promise<Ways> {
    return new Ways(stage, store, await stage.lessor(store))
  }

  async leased(runs: readonly NewRun[], leaseMs = 30_000): Promise<Lease[]> {
    await enqueueMany(this.store, runs.length, (index) => noop(runs[index]))
    return this.#lease(runs.length, { leaseMs })
  }

  /** What its holder writes: plain and other ends in one batch, and one of them twice. */
  async settled(): Promise<void> {
    const runs: NewRun[] = [{}, {}, { concurrencyKey: 'k' }, { dedupeKey: 'd' }, { onExhausted: 'fail' }]
    const held = await this.leased([...runs, ...Array.from({ length: 8 }, () => ({}))])
    const done = { kind: 'success' } as const
    const broken = { kind: 'failed', reason: 'broken' } as const
    const outcomes: Outcome[] = [
      done,
      done,
      done,
      done,
      { ...broken, retryable: false },
      { ...broken, retryable: false },
      broken,
      { kind: 'released' },
      { kind: 'forced-stop' },
      { kind: 'cancelled' },
      { kind: 'skipped', reason: 'guard' },
      { kind: 'parked', reason: 'a person must look' },
      { kind: 'deferred', until: this.stage.clock.now() + minute, reason: 'quota' },
    ]
    const ends: AttemptEnd[] = held.map((lease, index) => {
      return { ...lease, outcome: outcomes[index] ?? done, ...(index === 1 && { result: { rows: 3 } }) }
    })
    await this.store.settle([...ends, ends[0] as AttemptEnd])
    await this.store.settle(ends.slice(1, 3))
    const again = await this.#lease(10)
    await this.store.settle(again.map((lease) => ({ ...lease, outcome: done })))
  }

  async reclaimed(): Promise<void> {
    await this.leased([{}, { repeatable: false }, {}], 1_000)
    this.stage.clock.advance(1_000)
    await this.store.reclaim({ limit: 10 })
    await this.leased([{}])
    await this.store.reclaim({ deadWorkers: [this.workerId], limit: 10 })
  }

  async cancelled(): Promise<void> {
    const notBefore = this.stage.clock.now() + minute
    const unleased = await enqueueMany(this.store, 2, (index) => noop(index === 0 ? {} : { notBefore }))
    for (const id of unleased) assert.equal(await this.store.do(cancelRun, id, 'no'), 'cancelled')
    const [held] = await this.leased([{}])
    const { runId } = held as Lease
    await this.store.settle([{ ...(held as Lease), outcome: { kind: 'parked', reason: 'x' } }])
    await this.store.do(resetRun, runId)
    const [again] = await this.#lease(1)
    await this.store.settle([{ ...(again as Lease), outcome: { kind: 'parked', reason: 'x' } }])
    await this.store.do(cancelRun, runId, 'no')
  }

  async unfit(): Promise<void> {
    await enqueueMany(this.store, 2, (index) => noop(index === 0 ? { deadline: this.stage.clock.now() + 1_000 } : {}))
    this.stage.clock.advance(1_000)
    await this.#succeedAll()
    const [unreadable = ''] = await enqueueMany(this.store, 1, () => noop({ payload: { a: 1 } }))
    await this.stage.sql(`update belfry.run set payload = '{' where id = ${parseId('run', unreadable)}`)
    await this.#succeedAll()
  }

  /** Leases what there is, and once more: a step that met a run which could not go leases nothing. */
  async #succeedAll(): Promise<void> {
    const held = [...(await this.#lease(10)), ...(await this.#lease(10))]
    await this.store.settle(held.map((lease) => ({ ...lease, outcome: { kind: 'success' } })))
  }

  async scheduled(): Promise<void> {
    const { store, stage } = this
    const spec = { timing: { cron: '* * * * *', zone: 'UTC' }, target: { handler: 'noop' } }
    await store.do(putSchedule, { ...spec, name: 'replaced', overlap: 'cancel' }, { mode: 'put', actor })
    await store.do(putSchedule, { ...spec, name: 'deleted', overlap: 'allow' }, { mode: 'put', actor })
    for (let turn = 0; turn < 3; turn++) {
      stage.clock.advance(minute)
      await store.fireDue({ limit: 10 })
      if (turn === 0) await this.#succeedAll()
    }
    await store.do(runNow, 'replaced', {})
    await store.do(deleteSchedule, 'deleted', {})
    await store.do(deleteSchedule, 'replaced', {})
  }

  /** What is left parked goes by retention. */
  async forgotten(): Promise<void> {
    const { store, stage } = this
    const retention = { ...defaultPolicy.retention, parkedMs: 1_000 }
    await stage.setPolicy(store, { retention })
    stage.clock.advance(2_000)
    await store.prune({ limit: 100 })
  }
}

export const endHooks: Case[] = [
  {
    name: 'every end of an attempt, and of a run without one, reaches the hooks of parts exactly once, whatever brings it about',
    async run(stage) {
      const store = await stage.openWith(witness)
      await stage.setPolicy(store, { maxConcurrent: 100, backoffBaseMs: 0, backoffCapMs: 0, maxAttempts: 3 })
      const ways = await Ways.on(stage, store)
      await ways.settled()
      await ways.reclaimed()
      await ways.cancelled()
      await ways.unfit()
      await ways.scheduled()
      await ways.forgotten()
      const attempts = await stage.sql('select run_id, fence, outcome, ends from belfry.attempt')
      const recorded = attempts.map(({ run_id, fence, outcome, ends }) => `${run_id}.${fence} ${outcome} ${ends}`)
      const kinds = new Set(recorded.map((line) => line.replace(/^\S+ /, '')))
      assert.deepEqual([...kinds].sort(), [
        'cancelled cancelled',
        'deferred null',
        'failed failed',
        'failed null',
        'forced-stop null',
        'lost null',
        'parked null',
        'released null',
        'skipped skipped',
        'success completed',
      ])
      for (const hook of ['ending', 'ended']) {
        const seen = await stage.sql(`select subject from belfry.audit where verb = 'test.${hook}'`)
        assert.deepEqual(seen.map(({ subject }) => subject).sort(), [...recorded].sort(), `what ${hook} was shown`)
      }
      await assertEachRunStandsOnce(stage)
    },
  },
]
