import { parseId } from '../src/core/id.ts'
import type { Lease, LeaseName, LeaseRequest, Renewal } from '../src/store/port.ts'
import type { Attempt } from '../src/targets/attempt.ts'
import type { Rows } from './change-log.ts'
import type { Runs } from './invariants/runs.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** One execution of a target, as it is seen from outside. */
export interface Execution extends LeaseName {
  readonly process: Process
  readonly beganAt: number
  /** By then it is told to stop, if it says how long it may take. */
  readonly timesOutAt: number
  stoppedAt: number
  isStopped: boolean
  isOver: boolean
  /** Brings it to its end at once. */
  finish: () => void
}

/** A lease is trusted for this part of its length, from the start of the request that it was last granted or renewed by. */
const trustedShare = 0.8
/** An alarm may be late by some ms, and one that comes with many others has its turn a little later. */
const patienceMs = 12
/** Until an end is written it may have to be tried several times, with pauses. */
const endWrittenMsMax = 12_000

/**
 * The witness: an append-only list of what targets did, kept outside the store, and how long each worker could trust its
 * leases, worked out from what it asked and heard and from nothing else.
 */
export class Witness {
  readonly #world: World
  readonly #runs: Runs
  readonly #began: Execution[] = []
  readonly #running = new Set<Execution>()
  /** What came to its end well, until the end of its attempt is written. */
  readonly #endedWell = new Set<Execution>()
  readonly #seen = new Map<string, Execution>()
  readonly #trustedUntil = new Map<string, number>()
  readonly #claims = new Map<string, number>()
  /** Leases whose holders were told that they have them no longer. */
  readonly #lost = new Set<string>()

  constructor(world: World, runs: Runs) {
    this.#world = world
    this.#runs = runs
  }

  /** What is at work, in processes that live. */
  running(): Execution[] {
    return [...this.#running].filter(({ process }) => !process.isGone)
  }

  /** Whether the process has ever heard that it has this lease. */
  knows(process: Process, { run_id: runId, fence }: Rows['lease']): boolean {
    return this.#trustedUntil.has(`${process.name} ${runId} ${fence}`)
  }

  claimed({ claimId }: LeaseRequest, madeAt: number): void {
    this.#claims.set(claimId, madeAt)
  }

  granted(process: Process, leases: readonly Lease[]): void {
    for (const lease of leases) this.#trust(process, lease, this.#claims.get(lease.claimId) ?? 0)
  }

  renewed(process: Process, renewals: readonly Renewal[], madeAt: number): void {
    for (const renewal of renewals) {
      if (renewal.renewed) this.#trust(process, renewal, madeAt)
      else this.#lost.add(trustName(process, renewal))
    }
  }

  #trust(process: Process, name: LeaseName, madeAt: number): void {
    const until = madeAt + this.#world.scenery.settings.leaseMs * trustedShare
    const key = trustName(process, name)
    this.#trustedUntil.set(key, Math.max(until, this.#trustedUntil.get(key) ?? 0))
  }

  began(process: Process, { runId, fence, payload }: Attempt): Execution {
    const { now } = this.#world.timeline
    const { timeoutMs = Number.POSITIVE_INFINITY } = (payload ?? {}) as { timeoutMs?: number }
    const execution: Execution = {
      runId,
      fence,
      process,
      beganAt: now,
      timesOutAt: now + timeoutMs,
      stoppedAt: Number.POSITIVE_INFINITY,
      isStopped: false,
      isOver: false,
      finish: () => undefined,
    }
    const name = `${runId}#${fence}`
    const told = () => ({ execution: shown(execution), before: this.#seen.get(name)?.process.name })
    this.#world.demand(!this.#seen.has(name), 'I9 an attempt has one effect at the most', told)
    this.#world.demand(this.#isTrusted(execution), 'nothing begins under a lease that cannot be trusted', told)
    this.#seen.set(name, execution)
    this.#began.push(execution)
    this.#running.add(execution)
    this.#demandOnce(execution)
    return execution
  }

  stopped(execution: Execution, reason: unknown): void {
    execution.isStopped = true
    execution.stoppedAt = this.#world.timeline.now
    if (reason === 'lease-lost') this.#demandReason(execution.process, () => shown(execution))
  }

  /** A lease that somebody held was taken back because it had expired. */
  expired(process: Process, lease: Rows['lease']): void {
    this.#demandReason(process, () => ({ lease, process: process.name }))
  }

  /** Whoever lives, and is neither held up nor left without answers, keeps his leases and executes what they are for. */
  #demandReason({ isGone, troubledAt }: Process, facts: () => Readonly<Record<string, unknown>>): void {
    const { timeline, clock, scenery } = this.#world
    const lastAt = Math.max(troubledAt, clock.forwardAt)
    const isTroubled = isGone || lastAt > timeline.now - 3 * scenery.settings.leaseMs
    this.#world.demand(isTroubled, 'nobody loses a lease without a reason', facts)
  }

  ended(execution: Execution, isWell: boolean): void {
    execution.isOver = true
    this.#running.delete(execution)
    const { timeline, scenery } = this.#world
    const isLeftBehind = timeline.now >= execution.stoppedAt + (scenery.settings.leaveAfterMs ?? 0)
    if (isWell && !isLeftBehind && !this.#isWritten(execution)) this.#endedWell.add(execution)
  }

  /**
   * A success stands, also where a cancel was requested before: recorded as cancelled, a retry would repeat what was done.
   * An end that another took, or that no worker is left to write, is recorded as lost.
   */
  #demandSuccessStands(execution: Execution): void {
    if (!this.#isWritten(execution)) return
    this.#endedWell.delete(execution)
    const outcome = this.#runs.byText(execution.runId)?.outcomes.get(execution.fence)
    const facts = () => ({ execution: shown(execution), outcome })
    this.#world.demand(outcome !== 'cancelled', 'a success stands though a cancel was requested', facts)
  }

  #isWritten({ runId, fence }: Execution): boolean {
    return this.#runs.byText(runId)?.outcomes.has(fence) ?? true
  }

  /** I10: what must not repeat begins once, and again only after its own worker said that nothing happened, or a person. */
  #demandOnce({ runId }: Execution): void {
    const run = this.#runs.byText(runId)
    if (run === undefined || run.definition.repeatable === 1) return
    const began = this.#began.filter((one) => one.runId === runId)
    const harmless = ['failed', 'deferred']
    const failures = began.filter(({ fence }) => harmless.includes(run.outcomes.get(fence) ?? '')).length
    const facts = () => ({ run, began: began.map(shown) })
    this.#world.demand(began.length <= 1 + failures + run.resets, 'I10 what must not repeat has one effect', facts)
  }

  #isTrusted(execution: Execution): boolean {
    const until = this.#trustedUntil.get(trustName(execution.process, execution)) ?? 0
    return this.#world.timeline.now < until
  }

  /** Looks at all that runs: whoever is trusted has the lease, and nobody goes on who cannot be trusted any more. */
  judge(): void {
    const { now } = this.#world.timeline
    for (const execution of this.#endedWell) this.#demandSuccessStands(execution)
    for (const execution of this.#running) {
      const { process, isStopped } = execution
      if (process.isGone) this.#running.delete(execution)
      if (process.isGone || process.frozenUntil + patienceMs > now) continue
      if (isStopped) this.#demandLeftBehind(execution)
      else this.#judgeRunning(execution)
    }
  }

  #judgeRunning(execution: Execution): void {
    const { timeline, clock, scenery } = this.#world
    const { now } = timeline
    const { leaseMs } = scenery.settings
    const { process, timesOutAt } = execution
    const facts = () => ({ execution: shown(execution), trustedUntil, now })
    const trustedUntil = this.#trustedUntil.get(trustName(process, execution)) ?? 0
    const isTold = this.#lost.has(trustName(process, execution))
    this.#world.demand(!isTold, 'a worker stops what it was told it has lost', facts)
    this.#world.demand(now <= timesOutAt + patienceMs, 'an attempt is stopped when its time is over', facts)
    this.#world.demand(now <= trustedUntil + patienceMs, 'a worker stops what it can no longer trust', facts)
    if (now < trustedUntil && now > clock.forwardAt + 2 * leaseMs) this.#demandLease(execution)
    const { cancelledAt = null } = this.#runs.byText(execution.runId) ?? {}
    const isHeard = cancelledAt === null || now <= Math.max(cancelledAt, process.troubledAt) + leaseMs
    this.#world.demand(isHeard, 'a worker hears of a request to cancel', () => ({ ...facts(), cancelledAt }))
  }

  /** What does not stop is left behind after a while, and its end is written without it. */
  #demandLeftBehind(execution: Execution): void {
    const { timeline, luck, scenery } = this.#world
    const { leaveAfterMs = 0 } = scenery.settings
    const since = Math.max(execution.stoppedAt, execution.process.frozenUntil, luck.awayUntil)
    if (timeline.now < since + leaveAfterMs + endWrittenMsMax || execution.process.calls.size > 0) return
    this.#world.demand(this.#isWritten(execution), 'what does not stop is left behind', () => shown(execution))
  }

  #demandLease(execution: Execution): void {
    const run = this.#runs.byText(execution.runId)
    const [place] = run?.places ?? []
    const holds = place?.kind === 'lease' && place.row.fence === execution.fence
    const facts = () => ({ execution: shown(execution), run })
    this.#world.demand(holds, 'I2 whoever trusts a lease has it, alone', facts)
  }
}

function trustName({ name }: Process, { runId, fence }: LeaseName): string {
  return `${name} ${parseId('run', runId)} ${fence}`
}

function shown({ process, runId, fence, beganAt, isStopped }: Execution): Readonly<Record<string, unknown>> {
  return { process: process.name, runId, fence, beganAt, isStopped }
}
