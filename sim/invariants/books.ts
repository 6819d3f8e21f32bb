import type { SqliteHandle } from '../../src/store/sqlite/driver.ts'
import type { Deed } from './deed.ts'
import { Occurrences } from './occurrences.ts'
import { Queues } from './queues.ts'
import { Runs } from './runs.ts'
import { Schedules } from './schedules.ts'
import { judgeWhole } from './whole.ts'

/** Everything that is known of the store from the changes of its rows, and judged with each of them. */
export class Books {
  readonly queues = new Queues()
  readonly runs = new Runs(this.queues)
  readonly occurrences = new Occurrences(this.runs)
  readonly schedules = new Schedules(this.runs, this.occurrences)
  readonly #handle: SqliteHandle

  constructor(handle: SqliteHandle) {
    this.#handle = handle
  }

  apply(deed: Deed): void {
    for (const change of deed.changes) if (change.table === 'queue') this.queues.changed(change)
    const touched = this.runs.apply(deed)
    // An edit ends what the old timing brought, so the ledger is judged before the new timing is known.
    this.occurrences.apply(deed)
    this.schedules.apply(deed, touched)
  }

  judgeWhole(now: number): void {
    judgeWhole(this.#handle, this, now)
  }

  /** The wall clock was set, and shows this: what is measured by it means nothing across that instant. */
  clockWasSet(now: number): void {
    this.queues.isClockSteady = false
    this.schedules.isClockSteady = false
    this.occurrences.clockWasSet(now)
  }
}
