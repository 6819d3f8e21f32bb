import type { RunEnded } from '../../../engine/events.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { howLong } from '../show/time-text.ts'
import type { Heard } from '../world.ts'

const ends = ['completed', 'failed', 'parked', 'cancelled', 'skipped'] as const
type End = (typeof ends)[number]

/** The final states of a worker's runs, counted. */
export interface Counts extends Readonly<Record<End, number>> {
  readonly retrying: number
  /** The first retry; null for none, or at once. */
  readonly nextRetryAt: number | null
}

/** Counts runs by their final state, from a worker's events. Each run counts once: a retried one by its end, and one that was parked and reset by what follows. */
export class Tally {
  readonly #ended = new Map<End, number>(ends.map((end) => [end, 0]))
  /** Runs that have not reached their final state. */
  readonly #parked = new Set<string>()
  readonly #retries = new Map<string, number | null>()

  hear({ name, event }: Pick<Heard, 'name' | 'event'>): void {
    if (!isAboutEnd(name)) return
    const { runId, status, nextEligibleAt } = event as RunEnded
    this.#retries.delete(runId)
    this.#parked.delete(runId)
    if (status === 'ready') this.#retries.set(runId, nextEligibleAt ?? null)
    else if (name === 'run.reclaimed') return
    else if (status === 'parked') this.#parked.add(runId)
    else this.#count(ends.find((end) => end === status))
  }

  #count(end: End | undefined): void {
    if (end !== undefined) this.#ended.set(end, (this.#ended.get(end) ?? 0) + 1)
  }

  get counts(): Counts {
    const instants = [...this.#retries.values()].filter((at) => at !== null)
    const counted = { ...(Object.fromEntries(this.#ended) as Record<End, number>), parked: this.#parked.size }
    const nextRetryAt = instants.length === 0 ? null : Math.min(...instants)
    return { ...counted, retrying: this.#retries.size, nextRetryAt }
  }

  get hasFailures(): boolean {
    return this.#ended.get('failed') !== 0 || this.#parked.size > 0
  }
}

/** A reclaimed lease makes its run ready again; if it ends the run, that has its own event. */
function isAboutEnd(name: string): boolean {
  return name === 'run.retrying' || name === 'run.reclaimed' || ends.some((end) => name === `run.${end}`)
}

/** "3 completed, 1 failed, 2 will retry (in 30 s)"; empty where nothing ended. */
export function countsText({ retrying, nextRetryAt, ...counts }: Counts, now: number): string {
  const told = ends.flatMap((end) => (counts[end] === 0 ? [] : [`${counts[end]} ${end}`]))
  const when = nextRetryAt === null || nextRetryAt <= now ? 'at once' : `in ${howLong(nextRetryAt - now)}`
  const first = retrying === 1 ? when : `the first ${when}`
  return [...told, ...(retrying === 0 ? [] : [`${retrying} will retry (${first})`])].join(', ')
}

export function countsForPrograms({ nextRetryAt, ...counts }: Counts): object {
  return { ...counts, nextRetryAt: nextRetryAt === null ? null : isoText(nextRetryAt) }
}
