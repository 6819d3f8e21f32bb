import { type OpeningHours, opening } from '../../src/core/opening/opening.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'

/** A run, by all that a hold can be on. */
export interface Held {
  readonly queue: string
  readonly needId: number
  readonly schedule: string | null
  readonly key: string | null
}

/** The holds as they really lie in the store, and what they keep from starting. */
export class Holds {
  readonly #holds = new Map<number, Rows['hold']>()
  readonly #needs = new Map<number, Rows['need']>()
  readonly #calendars = new Map<string, OpeningHours>()

  changed(change: Change): void {
    if (change.table === 'need' && change.after !== null) this.#needs.set(change.after.id, change.after)
    if (change.table === 'calendar' && change.after !== null) {
      this.#calendars.set(change.after.name, JSON.parse(change.after.hours) as OpeningHours)
    }
    if (change.table !== 'hold') return
    if (change.before !== null) this.#holds.delete(change.before.id)
    if (change.after !== null) this.#holds.set(change.after.id, change.after)
  }

  /** The holds on it, also those that have not begun, and those that have ended and are not removed yet. */
  on({ queue, needId, schedule, key }: Held): Rows['hold'][] {
    const { kind = '', name = '', account = '', calendar = '' } = this.#needs.get(needId) ?? {}
    const subjects: Readonly<Record<string, readonly (string | null)[]>> = {
      namespace: [''],
      queue: [queue],
      kind: [kind, `${kind}/${name}`],
      schedule: [schedule],
      key: [key],
      account: [account],
      calendar: [calendar],
    }
    return [...this.#holds.values()].filter(({ scope, subject }) => subjects[scope]?.includes(subject))
  }

  /** A hold that has begun keeps what it set aside until its end, also by a clock that was set back to before its beginning. */
  isHeld(run: Held, at: number): boolean {
    return this.on(run).some((hold) => isInForce(hold, at) || (hold.begun_at !== null && hold.until_at > at))
  }

  /** Whether a hold on a key is still to begin. */
  isKeyAhead(at: number): boolean {
    return [...this.#holds.values()].some(({ scope, from_at: from }) => scope === 'key' && from > at)
  }

  /** The block of an account that is in force. */
  blockOf(account: string, at: number): Rows['hold'] | undefined {
    return this.#ofAccount(account, 'account-blocked').find((hold) => isInForce(hold, at))
  }

  fullOf(account: string): Rows['hold'] | undefined {
    return this.#ofAccount(account, 'account-full')[0]
  }

  #ofAccount(account: string, why: string): Rows['hold'][] {
    return [...this.#holds.values()].filter(({ scope, subject, reason }) => {
      return scope === 'account' && subject === account && reason === why
    })
  }

  isStopped(at: number): boolean {
    return [...this.#holds.values()].some((hold) => hold.firing === 'nothing' && isInForce(hold, at))
  }

  /** Judged by the instant that the store itself stamped on the lease: its clock may be set, and the rule is about its own time. */
  started(run: Held, leasedAt: number, told: () => object): void {
    const hold = this.on(run).find((one) => isInForce(one, leasedAt))
    demand(hold === undefined, 'nothing starts under a hold in force', () => ({ ...told(), hold }))
    const { calendar = '' } = this.#needs.get(run.needId) ?? {}
    const hours = this.#calendars.get(calendar)
    if (hours === undefined) return
    const { open } = opening({ at: leasedAt, calendar: hours })
    demand(open, 'nothing starts while its calendar is closed', () => ({ ...told(), hours }))
  }

  fired(run: Held, madeAt: number, told: () => object): void {
    const stop = this.on(run).find((hold) => hold.firing === 'nothing' && isInForce(hold, madeAt))
    demand(stop === undefined, 'nothing fires while it is stopped', () => ({ ...told(), stop }))
  }
}

function isInForce({ from_at: from, until_at: until }: Rows['hold'], at: number): boolean {
  return from <= at && until > at
}
