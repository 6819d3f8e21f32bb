import { parseId } from '../../src/core/id.ts'
import type { AttemptEnd, ReclaimRequest } from '../../src/store/port.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'
import type { Deed } from './deed.ts'
import type { Queues } from './queues.ts'
import { newRecord, type Place, type RunRecord, type Standing, standingOf } from './run-record.ts'

const moves: Readonly<Record<Standing, readonly Standing[]>> = {
  ready: ['held', 'leased', 'ended'],
  held: ['ready', 'ended'],
  leased: ['ready', 'held', 'parked', 'ended'],
  parked: ['ready', 'held', 'ended'],
  ended: [],
}

const budgetUsing = ['failed', 'lost', 'unknown']
const releasesInARowMax = 10

/** What one deed did to leases and attempts: the two must tell the same. */
interface Tally {
  readonly deed: Deed
  readonly before: Map<number, Standing | null>
  readonly taken: Map<string, Rows['lease']>
  readonly attempts: Map<string, Rows['attempt']>
}

/** The life of each run: one place at a time, one fence after the other, one end. */
export class Runs {
  readonly #queues: Queues
  readonly records = new Map<number, RunRecord>()
  readonly #occurrences = new Set<string>()
  readonly #idempotencyKeys = new Map<string, number>()

  constructor(queues: Queues) {
    this.#queues = queues
  }

  get(id: number): RunRecord {
    const run = this.records.get(id)
    if (run === undefined) throw new Error(`There is no run ${id}.`)
    return run
  }

  byText(text: string): RunRecord | undefined {
    return this.records.get(parseId('run', text) ?? 0)
  }

  /** Takes in what a deed changed and judges it; answers the runs it touched. */
  apply(deed: Deed): Set<RunRecord> {
    const tally: Tally = { deed, before: new Map(), taken: new Map(), attempts: new Map() }
    for (const change of deed.changes) {
      const id = runIdOf(change)
      const known = id === null ? undefined : this.records.get(id)
      if (id !== null && !tally.before.has(id)) tally.before.set(id, known === undefined ? null : standingOf(known))
      this.#take(change, tally)
    }
    this.#matchAttempts(tally)
    const touched = new Set<RunRecord>()
    for (const [id, before] of tally.before) {
      const run = this.records.get(id)
      if (run === undefined || run.isPruned) continue
      touched.add(run)
      // A renewal changes its row, and nothing about where it stands.
      if (standingOf(run) !== before) run.since = deed.at
      this.#judge(run, before, tally)
    }
    return touched
  }

  #take(change: Change, tally: Tally): void {
    if (change.table === 'run') this.#defined(change, tally)
    if (change.table === 'ready') this.#placed(change.before, change.after, (row) => ({ kind: 'ready', row }))
    if (change.table === 'aside') this.#placed(change.before, change.after, (row) => ({ kind: 'aside', row }))
    if (change.table === 'lease') this.#leased(change, tally)
    if (change.table === 'attempt') this.#attempted(change, tally)
  }

  #defined({ before, after }: Extract<Change, { table: 'run' }>, { deed }: Tally): void {
    demand(before === null || after === null, 'the definition of a run is never changed', () => ({ before, after }))
    if (after === null) {
      const run = this.get((before as Rows['run']).id)
      const isOver = run.ended !== null || standingOf(run) === 'parked' || run.places.length === 0
      demand(isOver && deed.verb === 'prune', 'only what has ended is removed, and only by retention', () => ({ run }))
      run.isPruned = true
      return
    }
    const { id, schedule_id: scheduleId, occurrence_at: occurrenceAt, idempotency_key: key } = after
    if (occurrenceAt !== null) {
      const name = `${scheduleId} ${occurrenceAt}`
      demand(!this.#occurrences.has(name), 'I1 an occurrence becomes a run once', () => ({ run: after }))
      this.#occurrences.add(name)
    }
    if (key !== null) {
      const first = this.#idempotencyKeys.get(key)
      demand(first === undefined, 'an idempotency key makes one run', () => ({ key, first, second: id }))
      this.#idempotencyKeys.set(key, id)
    }
    this.records.set(id, newRecord(after))
  }

  #placed<Row extends { readonly run_id: number }>(
    before: Row | null,
    after: Row | null,
    placeOf: (row: Row) => Place,
  ): void {
    if (before !== null) this.#leave(before.run_id, placeOf(before).kind)
    if (after !== null) this.get(after.run_id).places.push(placeOf(after))
  }

  #leave(runId: number, kind: Place['kind']): void {
    const run = this.get(runId)
    const index = run.places.findIndex((place) => place.kind === kind)
    run.places = run.places.filter((_, at) => at !== index)
  }

  #leased({ before, after }: Extract<Change, { table: 'lease' }>, tally: Tally): void {
    if (before !== null && after !== null) {
      const isSame = before.fence === after.fence && before.worker_id === after.worker_id
      demand(isSame, 'a lease changes neither its fence nor its holder', () => ({ before, after }))
      const isOwn = before.expires_at === after.expires_at || tally.deed.by.workerIds.has(after.worker_id)
      demand(isOwn, 'nobody renews a lease but its holder', () => ({ before, after, by: tally.deed.by.name }))
      this.#placed(before, after, (row) => ({ kind: 'lease', row }))
      if (before.cancel_requested_at === null && after.cancel_requested_at !== null) {
        this.get(after.run_id).cancelledAt = tally.deed.at
      }
      return
    }
    if (before !== null) {
      this.#leave(before.run_id, 'lease')
      this.#queues.unleased(before)
      tally.taken.set(nameOf(before), before)
      this.#demandRightToTake(before, tally.deed)
    }
    if (after !== null) {
      this.#grant(after, tally.deed)
      this.get(after.run_id).places.push({ kind: 'lease', row: after })
    }
  }

  #grant(row: Rows['lease'], { by, verb }: Deed): void {
    const run = this.get(row.run_id)
    const { deadline, late_after: lateAfter } = run.definition
    const told = () => ({ run, lease: row, by: by.name, verb })
    demand(run.ended === null, 'I4 what has ended never starts again', told)
    demand(row.fence === run.fence + 1, 'fences grow by one and never repeat', told)
    demand(by.workerIds.has(row.worker_id), 'a lease is granted to whoever asks for it', told)
    demand(deadline === null || deadline > row.leased_at, 'nothing starts after its deadline', told)
    demand(lateAfter === null || run.fence > 0 || lateAfter >= row.leased_at, 'nothing starts too late', told)
    run.fence = row.fence
    run.cancelledAt = null
    this.#queues.leased(row)
  }

  /** Only its holder ends a lease, and whoever takes it back because it expired or because its holder is dead. */
  #demandRightToTake(row: Rows['lease'], { verb, args, by, now }: Deed): void {
    const told = () => ({ lease: row, by: by.name, verb, now })
    if (verb === 'settle') {
      const isNamed = (args[0] as AttemptEnd[]).some((end) => isOf(end, row))
      demand(isNamed && by.workerIds.has(row.worker_id), 'I3 nobody ends a lease but its holder', told)
      return
    }
    const { deadWorkers = [] } = (verb === 'reclaim' ? args[0] : {}) as Partial<ReclaimRequest>
    const isDead = deadWorkers.some((id) => parseId('worker', id) === row.worker_id)
    demand(verb === 'reclaim' && (row.expires_at <= now || isDead), 'a lease that holds is not taken back', told)
  }

  #attempted({ before, after }: Extract<Change, { table: 'attempt' }>, { deed, attempts }: Tally): void {
    if (before !== null) {
      demand(after === null && deed.verb === 'prune', 'I4 what is recorded stays as it is', () => ({ before, after }))
      return
    }
    if (after === null) return
    const run = this.get(after.run_id)
    demand(!run.outcomes.has(after.fence), 'an attempt is recorded once', () => ({ run, attempt: after }))
    demand(run.ended === null, 'I4 ends are final', () => ({ run, attempt: after }))
    run.outcomes.set(after.fence, after.outcome)
    run.ended = after.ends
    attempts.set(nameOf(after), after)
    if (after.fence === 0)
      demand(after.ends !== null, 'without a lease there are only ends', () => ({ attempt: after }))
    else this.#count(run, after)
  }

  #count(run: RunRecord, { outcome }: Rows['attempt']): void {
    if (budgetUsing.includes(outcome)) run.attempts++
    const isKept = outcome === 'forced-stop' || outcome === 'deferred'
    run.releases = outcome === 'released' ? run.releases + 1 : isKept ? run.releases : 0
    if (run.releases < releasesInARowMax) return
    run.attempts++
    run.releases = 0
  }

  /** I3: what is recorded of an attempt is what its own holder said, in the step that ended its lease; and I4. */
  #matchAttempts({ deed, taken, attempts }: Tally): void {
    for (const [name, lease] of taken) {
      demand(attempts.has(name), 'no lease ends without a record', () => ({ lease, verb: deed.verb }))
    }
    for (const [name, attempt] of attempts) {
      if (attempt.fence === 0) continue
      const lease = taken.get(name)
      const told = () => ({ attempt, lease, verb: deed.verb, by: deed.by.name })
      demand(lease?.worker_id === attempt.worker_id, 'I3 no outcome of a stale fence is recorded', told)
      const said =
        deed.verb === 'settle' ? (deed.args[0] as AttemptEnd[]).find((end) => isOf(end, attempt))?.outcome.kind : 'lost'
      // A deferral that parks or fails the run is a failure, so that the time that it was deferred counts anew.
      const isSpent = said === 'deferred' && attempt.outcome === 'failed'
      demand(said === attempt.outcome || isSpent, 'I3 what is recorded is what was said', () => ({ ...told(), said }))
    }
  }

  #judge(run: RunRecord, before: Standing | null, { deed, taken, attempts }: Tally): void {
    const after = standingOf(run)
    const told = () => ({ run, before, after, verb: deed.verb, by: deed.by.name })
    demand(after !== null, 'a run stands in one place', told)
    if (after === null) return
    if (before !== null && before !== after) {
      const isAllowed = moves[before].includes(after) || (before === 'ready' && after === 'ready')
      demand(isAllowed, 'a run moves only as its states allow', told)
    }
    if (before === 'parked' && after !== 'ended' && after !== 'parked') this.#broughtBack(run)
    const [place] = run.places
    if (place === undefined) return
    this.#judgeEligible(run, place, deed)
    demand(place.row.fence === run.fence, 'the fence goes with the run', told)
    demand(place.row.attempts === run.attempts, 'I8 every end that used the budget is counted, once', told)
    const lease = taken.get(`${run.definition.id} ${run.fence}`)
    const attempt = attempts.get(`${run.definition.id} ${run.fence}`)
    if (lease !== undefined && attempt !== undefined) this.#judgeReturn(run, lease, attempt, deed)
  }

  /** What waits for an instant comes into line when that has come, whatever happened to it meanwhile. */
  #judgeEligible(run: RunRecord, place: Place, { now, verb }: Deed): void {
    const { eligibleAt } = run
    if (place.kind === 'aside' && place.row.kind !== 'key') {
      const isDated = place.row.kind === 'waiting' || ['backoff', 'not-before'].includes(place.row.reason ?? '')
      run.eligibleAt = isDated ? place.row.at : place.row.kind === 'parked' ? null : eligibleAt
      return
    }
    demand(eligibleAt === null || eligibleAt <= now, 'nothing starts early', () => ({ run, verb, now }))
    run.eligibleAt = null
  }

  #broughtBack(run: RunRecord): void {
    run.attempts = 0
    run.releases = 0
    run.resets++
    run.isBroughtBack = true
  }

  /** A run that came back from its lease: whether it may be tried again, and when. */
  #judgeReturn(
    run: RunRecord,
    lease: Rows['lease'],
    { outcome, ended_at: endedAt }: Rows['attempt'],
    deed: Deed,
  ): void {
    const after = standingOf(run) as Standing
    const { policy } = this.#queues.get(run.definition.queue_id)
    const told = () => ({ run, lease, outcome, policy, verb: deed.verb })
    demand(lease.cancel_requested_at === null, 'what is to be cancelled is not tried again', told)
    if (after === 'parked') return
    demand(run.attempts < policy.maxAttempts || !usesBudget(outcome, run), 'I8 failure is bounded', told)
    const mustNotRepeat = run.definition.repeatable === 0 && ['lost', 'unknown', 'forced-stop'].includes(outcome)
    demand(!mustNotRepeat, 'I10 what must not repeat is parked when its effect is unknown', told)
    const [place] = run.places
    if (!budgetUsing.includes(outcome) || place?.kind !== 'aside' || place.row.reason !== 'backoff') return
    const { backoffBaseMs, backoffFactor, backoffCapMs } = policy
    const waitMs = Math.min(backoffCapMs, backoffBaseMs * backoffFactor ** (run.attempts - 1))
    demand(place.row.at >= endedAt + Math.floor(waitMs), 'a retry waits for its backoff', told)
  }
}

function usesBudget(outcome: string, run: RunRecord): boolean {
  return budgetUsing.includes(outcome) || (outcome === 'released' && run.releases === 0)
}

function nameOf({ run_id: runId, fence }: { readonly run_id: number; readonly fence: number }): string {
  return `${runId} ${fence}`
}

function isOf(end: AttemptEnd, row: { readonly run_id: number; readonly fence: number }): boolean {
  return end.fence === row.fence && parseId('run', end.runId) === row.run_id
}

function runIdOf(change: Change): number | null {
  switch (change.table) {
    case 'run':
      return (change.after ?? change.before)?.id ?? null
    case 'ready':
    case 'aside':
    case 'lease':
    case 'attempt':
      return (change.after ?? change.before)?.run_id ?? null
    default:
      return null
  }
}
