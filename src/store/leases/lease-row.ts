import { formatId } from '../../core/id.ts'
import { isRecord } from '../../core/json/record.ts'
import type { Lease, RunSource } from '../port.ts'
import type { Row } from '../statement.ts'

/** The columns of a run's definition that its executor needs. The statement names the run `d`. */
export const definitionColumns = `d.schedule_id, d.occurrence_at, d.due_at, d.source, d.deadline, d.late_after,
  d.dedupe_key, d.idempotency_key, d.repeatable, d.target, d.payload, d.options`

/** The work, which is stored as JSON. */
export type Contents = Pick<Lease, 'target' | 'payload' | 'options'>

/** The contents, or the name of the unreadable field: one damaged row must not stop all others. */
export function contentsOf(row: Row): Contents | { readonly unreadable: string } {
  const target = parsed(row.target)
  const payload = parsed(row.payload)
  const options = parsed(row.options)
  if (!isRecord(target) && target !== null) return { unreadable: 'target' }
  if (payload === undefined) return { unreadable: 'payload' }
  if (!isRecord(options) && options !== null) return { unreadable: 'options' }
  return { target, payload: row.payload === null ? undefined : payload, options: options ?? {} }
}

/** The fields of a lease that its run does not have. */
export interface Granted extends Pick<Lease, 'fence' | 'queue' | 'claimId' | 'leasedAt' | 'expiresAt'> {
  readonly reserves: number
}

/** The reservations that every run of a namespace may need, as bits of a sum. */
export const reserving = { slots: 1, budgets: 2 } as const

/** Turns one of these bits on or off; $1 is the namespace, $2 whether it is on. */
export function markReserving(what: keyof typeof reserving): string {
  const bit = reserving[what]
  return `update belfry.namespace set reserves = (reserves & ~${bit}) | (case when $2 = 1 then ${bit} else 0 end) where id = $1`
}

/**
 * The reservations that every run of the namespace needs before it starts, as a sum of `reserving`: one probe of a
 * small table.
 */
export function reservesOf(ns: string): string {
  return `(select s.reserves from belfry.namespace s where s.id = ${ns})`
}

/** The lease for the worker, from a row with the columns above and those of the run's place in line. */
export function leaseOf(row: Row, granted: Granted, contents: Contents): Lease {
  const lease = {
    runId: formatId('run', row.run_id as number),
    fence: granted.fence,
    queue: granted.queue,
    claimId: granted.claimId,
    leasedAt: granted.leasedAt,
    expiresAt: granted.expiresAt,
    scheduleId: row.schedule_id === null ? null : formatId('schedule', row.schedule_id as number),
    occurrenceAt: row.occurrence_at as number | null,
    dueAt: row.due_at as number | null,
    enqueuedAt: row.enqueued_at as number,
    source: row.source as RunSource,
    attempts: row.attempts as number,
    idempotencyKey: row.idempotency_key as string | null,
    target: contents.target,
    payload: contents.payload,
    options: contents.options,
    repeatable: row.repeatable === 1,
  }
  if (granted.reserves === 0) return lease
  const isOf = (what: number) => (granted.reserves & what) !== 0
  return {
    ...lease,
    ...(isOf(reserving.slots) && { isReserving: true as const }),
    ...(isOf(reserving.budgets) && { isBudgeted: true as const }),
  }
}

/** `undefined`, which JSON never contains, where the text cannot be parsed. */
function parsed(text: Row[string] | undefined): unknown {
  if (text === null || text === undefined) return null
  try {
    return JSON.parse(text as string)
  } catch {
    return undefined
  }
}
