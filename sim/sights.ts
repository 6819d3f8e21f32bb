import type { ActionAnswer } from '../src/parts/planner/looks/act-on-schedule.ts'
import type { AttemptEnd, Lease, Reclaimed, Settled } from '../src/store/port.ts'
import type { Call } from './faulty-store.ts'
import type { History } from './history.ts'
import type { Deed } from './invariants/deed.ts'

/** Notes the rare things that the invariants are about, so that it can be told whether they ever happened. */
export function seeDeed(history: History, { changes, verb }: Deed): void {
  const see = (what: string) => history.count(`seen: ${what}`)
  for (const { table, before, after } of changes) {
    if (table === 'aside' && after !== null) see(asideSight[after.kind] ?? `run aside: ${after.kind}`)
    if (table === 'ledger' && after !== null && after.run_id === null) see(ledgerSight[after.outcome] ?? 'ledger')
    if (table === 'attempt' && after !== null && after.reason === 'effect-unknown') {
      see('attempt not repeated, effect unknown')
    }
    if (table === 'lease' && before?.cancel_requested_at != null && after === null) see('run cancelled while leased')
    if (verb === 'enqueue' && table === 'lease' && before === null && after !== null) {
      const isNew = changes.some((change) => change.table === 'run' && change.after?.id === after.run_id)
      see(isNew ? 'run leased where it was enqueued' : 'run leased where another was enqueued')
    }
    if (table === 'run' && after === null && verb === 'prune') see('rows pruned')
    if (table === 'schedule' && verb === 'settle' && after !== null && after.hint_epoch === before?.hint_epoch) {
      if (after.hints !== before.hints && after.hints.includes('"by":"rule"')) see('hint of a rule')
      if (after.paused_until !== null && after.paused_until !== before.paused_until) see('pause of a rule')
    }
    if (table === 'schedule' && verb === 'actOnSchedule' && after !== null) see('action of a planner')
  }
}

const asideSight: Readonly<Record<string, string>> = {
  parked: 'run parked',
  key: 'run behind a key',
  overlap: 'run behind another of its schedule',
  held: 'run held',
  waiting: 'run waits for an instant',
}
const ledgerSight: Readonly<Record<string, string>> = {
  missed: 'occurrences missed',
  overlap: 'occurrence skipped for overlap',
  lateness: 'occurrence too late',
  paused: 'occurrences passed in a pause',
  edited: 'occurrences passed by an edit',
}

/** The same, of what the store answers. */
export function seeAnswer(history: History, { verb, args }: Pick<Call, 'verb' | 'args'>, value: unknown): void {
  const see = (what: string) => history.count(`seen: ${what}`)
  if (verb === 'reclaim') {
    for (const { because } of value as Reclaimed[]) {
      see(because === 'expired' ? 'lease taken back as expired' : 'lease taken back from the dead')
    }
  }
  if (verb === 'settle') {
    for (const { answer } of value as Settled[]) {
      if (answer === 'lease-lost') see('stale end refused')
      if (answer === 'already-written') see('end already written')
      if (answer === 'gone') see('end of a run that is gone')
    }
    for (const { outcome } of args[0] as AttemptEnd[]) see(`attempt ended ${outcome.kind}`)
  }
  if (verb === 'actOnSchedule' && (value as ActionAnswer).answer === 'refused') see('action of a planner refused')
  if (verb === 'read.leasesOf' && (value as Lease[]).length > 0) see('claim found after an unknown commit')
}
