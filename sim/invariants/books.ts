import type { SqliteHandle } from '../../src/store/sqlite/driver.ts'
import type { Change } from '../change-log.ts'
import { Accounts } from './accounts.ts'
import { Budgets } from './budgets.ts'
import type { Deed } from './deed.ts'
import { type Held, Holds } from './holds.ts'
import { Occurrences } from './occurrences.ts'
import { Queues } from './queues.ts'
import type { RunRecord } from './run-record.ts'
import { Runs } from './runs.ts'
import { Schedules } from './schedules.ts'
import { judgeWhole } from './whole.ts'

/** Everything that is known of the store from the changes of its rows, and judged with each of them. */
export class Books {
  readonly queues = new Queues()
  readonly holds = new Holds()
  readonly accounts = new Accounts()
  readonly budgets = new Budgets()
  readonly runs = new Runs(this.queues)
  readonly occurrences = new Occurrences(this.runs)
  readonly schedules = new Schedules(this.runs, this.occurrences)
  readonly #handle: SqliteHandle

  constructor(handle: SqliteHandle) {
    this.#handle = handle
  }

  apply(deed: Deed): void {
    for (const change of deed.changes) {
      if (change.table === 'queue') this.queues.changed(change)
      this.holds.changed(change)
      this.accounts.changed(change, this.holds)
      this.budgets.changed(change)
    }
    const touched = this.runs.apply(deed)
    // An edit ends what the old timing brought, so the ledger is judged before the new timing is known.
    this.occurrences.apply(deed)
    this.schedules.apply(deed, touched)
    for (const change of deed.changes) this.#judgeHolds(change, deed)
  }

  /** A run by all that a hold can be on. */
  heldOf({ definition }: RunRecord): Held {
    const { queue_id: queueId, need_id: needId, schedule_id: scheduleId, concurrency_key: key } = definition
    const row = scheduleId === null ? undefined : this.schedules.records.get(scheduleId)?.row
    return { queue: this.queues.get(queueId).name, needId, schedule: row?.deleted_at === null ? row.name : null, key }
  }

  #judgeHolds({ table, before, after }: Change, { verb }: Deed): void {
    if (table === 'lease' && before === null && after !== null) {
      const run = this.runs.get(after.run_id)
      this.holds.started(this.heldOf(run), after.leased_at, () => ({ run, lease: after, verb }))
    }
    if (table === 'run' && before === null && after !== null && verb === 'fireDue') {
      this.holds.fired(this.heldOf(this.runs.get(after.id)), after.enqueued_at, () => ({ run: after }))
    }
    if (table === 'budget_reservation' && before === null && after !== null) this.budgets.reserved(after)
  }

  judgeWhole(now: number): void {
    judgeWhole(this.#handle, this, now)
    this.accounts.judgeWhole(this.#handle, this.holds)
    this.budgets.judgeWhole(this.#handle)
  }

  /** The wall clock was set, and shows this: what is measured by it means nothing across that instant. */
  clockWasSet(now: number): void {
    this.queues.isClockSteady = false
    this.schedules.isClockSteady = false
    this.occurrences.clockWasSet(now)
  }
}
