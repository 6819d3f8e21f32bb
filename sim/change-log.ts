import type { SqliteHandle, SqliteStatement } from '../src/store/sqlite/driver.ts'

/** Rows as the invariants look at them, by the table they lie in. */
export interface Rows {
  run: {
    readonly id: number
    readonly queue_id: number
    readonly need_id: number
    readonly schedule_id: number | null
    readonly occurrence_at: number | null
    readonly due_at: number | null
    readonly enqueued_at: number
    readonly source: string
    readonly not_before: number | null
    readonly deadline: number | null
    readonly late_after: number | null
    readonly concurrency_key: string | null
    readonly idempotency_key: string | null
    readonly dedupe_key: string | null
    readonly retry_of: number | null
    readonly repeatable: number
  }
  ready: PlaceRow
  aside: PlaceRow & { readonly kind: string; readonly at: number; readonly reason: string | null }
  lease: PlaceRow & {
    readonly worker_id: number
    readonly leased_at: number
    readonly expires_at: number
    readonly concurrency_key: string | null
    readonly cancel_requested_at: number | null
  }
  attempt: {
    readonly run_id: number
    readonly fence: number
    readonly worker_id: number | null
    readonly ended_at: number
    readonly outcome: string
    readonly reason: string | null
    readonly ends: string | null
  }
  ledger: {
    readonly schedule_id: number
    readonly from_at: number
    readonly to_at: number
    readonly count: number
    readonly outcome: string
    readonly run_id: number | null
    readonly ended_at: number | null
  }
  schedule: {
    readonly id: number
    readonly name: string
    readonly spec: string
    readonly version: number
    readonly hint_epoch: number
    readonly next_decision: string | null
    readonly disabled_at: number | null
    readonly paused_until: number | null
    readonly held_by: number | null
    readonly hints: string
    readonly steering: string | null
    readonly failure_count: number
    readonly runs_count: number
    readonly last_planned_at: number | null
    readonly grid_anchor_at: number
    readonly next_run_at: number | null
    readonly next_due_at: number | null
    readonly waits_for: number | null
    readonly wake_at: number | null
    readonly stopped_by: number | null
    readonly is_done: number
    readonly deleted_at: number | null
  }
  queue: { readonly id: number; readonly name: string; readonly policy: string }
  need: {
    readonly id: number
    readonly kind: string
    readonly name: string
    readonly account: string
    readonly calendar: string
  }
  calendar: { readonly name: string; readonly hours: string }
  budget: { readonly id: number; readonly name: string; readonly terms: string; readonly state: string | null }
  budget_reservation: {
    readonly run_id: number
    readonly fence: number
    readonly budget_id: number
    readonly from_at: number
    readonly amounts: string
    readonly settled_at: number | null
  }
  account: { readonly name: string; readonly spec: string; readonly standing: string }
  account_use: {
    readonly run_id: number
    readonly fence: number
    readonly account: string
    readonly begun_at: number
    readonly ended_at: number | null
  }
  hold: {
    readonly id: number
    readonly scope: string
    readonly subject: string
    readonly from_at: number
    readonly until_at: number
    readonly begun_at: number | null
    readonly reason: string
    readonly firing: string
  }
}

export interface PlaceRow {
  readonly run_id: number
  readonly queue_id: number
  readonly fence: number
  readonly attempts: number
  readonly releases: number
}

export type Table = keyof Rows

const place = ['run_id', 'queue_id', 'fence', 'attempts', 'releases'] as const
const watched: { readonly [Name in Table]: readonly (keyof Rows[Name])[] } = {
  run: [
    'id',
    'queue_id',
    'need_id',
    'schedule_id',
    'occurrence_at',
    'due_at',
    'enqueued_at',
    'source',
    'not_before',
    'deadline',
    'late_after',
    'concurrency_key',
    'idempotency_key',
    'dedupe_key',
    'retry_of',
    'repeatable',
  ],
  ready: place,
  aside: [...place, 'kind', 'at', 'reason'],
  lease: [...place, 'worker_id', 'leased_at', 'expires_at', 'concurrency_key', 'cancel_requested_at'],
  attempt: ['run_id', 'fence', 'worker_id', 'ended_at', 'outcome', 'reason', 'ends'],
  ledger: ['schedule_id', 'from_at', 'to_at', 'count', 'outcome', 'run_id', 'ended_at'],
  schedule: [
    'id',
    'name',
    'spec',
    'version',
    'hint_epoch',
    'next_decision',
    'disabled_at',
    'paused_until',
    'held_by',
    'hints',
    'steering',
    'failure_count',
    'runs_count',
    'last_planned_at',
    'grid_anchor_at',
    'next_run_at',
    'next_due_at',
    'waits_for',
    'wake_at',
    'stopped_by',
    'is_done',
    'deleted_at',
  ],
  queue: ['id', 'name', 'policy'],
  need: ['id', 'kind', 'name', 'account', 'calendar'],
  calendar: ['name', 'hours'],
  budget: ['id', 'name', 'terms', 'state'],
  budget_reservation: ['run_id', 'fence', 'budget_id', 'from_at', 'amounts', 'settled_at'],
  account: ['name', 'spec', 'standing'],
  account_use: ['run_id', 'fence', 'account', 'begun_at', 'ended_at'],
  hold: ['id', 'scope', 'subject', 'from_at', 'until_at', 'begun_at', 'reason', 'firing'],
}

/** A row before and after a change; without the one it is new, without the other it is gone. */
export type Change = {
  readonly [Name in Table]: {
    readonly table: Name
    readonly before: Rows[Name] | null
    readonly after: Rows[Name] | null
  }
}[Table]

/**
 * What the store's tables really went through, told by triggers that the store knows nothing of. Whoever judges the store
 * by its answers believes what it says of itself.
 */
export class ChangeLog {
  readonly #read: SqliteStatement
  readonly #clear: SqliteStatement

  constructor(handle: SqliteHandle) {
    handle.exec(
      'create temp table seen_change (seq integer primary key, subject text not null, before text, after text)',
    )
    for (const [table, columns] of Object.entries(watched)) {
      const image = (row: string) => `json_object(${columns.map((name) => `'${name}', ${row}.${name}`).join(', ')})`
      const images = {
        insert: ['null', image('new')],
        update: [image('old'), image('new')],
        delete: [image('old'), 'null'],
      }
      for (const [verb, [before, after]] of Object.entries(images)) {
        handle.exec(`create temp trigger seen_${table}_${verb} after ${verb} on main.${table} begin
          insert into seen_change (subject, before, after) values ('${table}', ${before}, ${after}); end`)
      }
    }
    this.#read = handle.prepare('select subject, before, after from seen_change order by seq')
    this.#clear = handle.prepare('delete from seen_change')
  }

  /** All changes since it was last asked, in their order. */
  take(): Change[] {
    const rows = this.#read.all() as { subject: Table; before: string | null; after: string | null }[]
    if (rows.length === 0) return []
    this.#clear.run()
    return rows.map(({ subject, before, after }) => {
      return { table: subject, before: imageOf(before), after: imageOf(after) } as Change
    })
  }

  forget(): void {
    this.#clear.run()
  }
}

function imageOf(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}
