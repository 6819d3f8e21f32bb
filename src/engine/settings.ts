import { BelfryError } from '../core/error.ts'

export interface EngineSettings {
  /** How long a lease of this worker lasts unless it is renewed. */
  readonly leaseMs: number
  readonly renewMs: number
  /** How often the worker reports that it is alive. */
  readonly beatMs: number
  /** How often the loops tick even if nothing wakes them. */
  readonly pollMs: number
  /** How often the processes of workers on this machine are checked. */
  readonly localDeathsMs: number
  readonly reconcileMs: number
  /** How long a program has after TERM before it is killed. */
  readonly killAfterMs: number
  /** How long an executor that was told to stop has before it is abandoned. */
  readonly leaveAfterMs: number
}

const leaseMsDefault = 30_000
/** A renewal must have two chances to arrive within the time that a lease is trusted. */
const renewalsInLease = 3
const leaseMsMin = 1_000
const settingMsMax = 86_400_000

/** The last share of a lease, in which it is no longer trusted and its attempt is stopped. */
const untrustedShare = 0.2
/**
 * The share of that time in which a program may stop by itself, so that it is surely gone when another worker starts the
 * run.
 */
const killShare = 0.75
const killAfterMsMax = 5_000

export function settingsOf(given: Partial<EngineSettings> = {}): EngineSettings {
  const { leaseMs = leaseMsDefault } = given
  const settings = {
    leaseMs,
    renewMs: Math.floor(leaseMs / renewalsInLease),
    beatMs: 60_000,
    pollMs: 30_000,
    localDeathsMs: 5_000,
    reconcileMs: 300_000,
    killAfterMs: Math.min(killAfterMsMax, Math.floor(leaseMs * untrustedShare * killShare)),
    leaveAfterMs: 10_000,
    ...given,
  }
  for (const [name, value] of Object.entries(settings)) {
    if (Number.isSafeInteger(value) && value >= 1 && value <= settingMsMax) continue
    throw wrong(name, value, `a whole number of ms from 1 to ${settingMsMax}, which is a day`)
  }
  if (leaseMs < leaseMsMin) throw wrong('leaseMs', leaseMs, `at least ${leaseMsMin}`)
  if (settings.renewMs > trustMs(settings) / 2) {
    throw wrong('renewMs', settings.renewMs, `at most ${trustMs(settings) / 2} with a leaseMs of ${leaseMs}`)
  }
  return settings
}

/** How long after the start of its last renewal a worker trusts a lease. */
export function trustMs({ leaseMs }: Pick<EngineSettings, 'leaseMs'>): number {
  return leaseMs * (1 - untrustedShare)
}

function wrong(name: string, value: unknown, expected: string): BelfryError {
  const problem = `is ${String(value)}`
  return new BelfryError('invalid', `${name} ${problem}; it must be ${expected}.`, {
    details: { field: name, problems: [{ field: name, problem, expected }] },
  })
}
