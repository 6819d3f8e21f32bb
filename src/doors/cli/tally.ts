import type { RunEnded } from '../../engine/events.ts'
import { isoText } from '../../operations/instant.ts'
import { howLong } from './when.ts'
import type { Heard } from './world.ts'

const ends = ['completed', 'failed', 'parked', 'cancelled', 'skipped'] as const
type End = (typeof ends)[number]

/** What became of the runs that a worker ended. */
export interface Counts extends Readonly<Record<End, number>> {
  readonly retrying: number
  /** When the first of the retries comes; null where none does, or where it comes at once. */
  readonly nextRetryAt: number | null
}

/** Counts what becomes of runs by what a worker tells. A run that is retried counts only by what becomes of it in the end. */
export class Tally {
  readonly #ended = new Map<End, number>(ends.map((end) => [end, 0]))
  readonly #retries = new Map<string, number | null>()

  hear({ name, event }: Pick<Heard, 'name' | 'event'>): void {
    if (!isAboutEnd(name)) return
    const { runId, status, nextEligibleAt } = event as RunEnded
    this.#retries.delete(runId)
    const end = ends.find((each) => each === status)
    if (end !== undefined) this.#ended.set(end, (this.#ended.get(end) ?? 0) + 1)
    else if (status === 'ready') this.#retries.set(runId, nextEligibleAt ?? null)
  }

  get counts(): Counts {
    const instants = [...this.#retries.values()].filter((at) => at !== null)
    const counted = Object.fromEntries(this.#ended) as Record<End, number>
    const nextRetryAt = instants.length === 0 ? null : Math.min(...instants)
    return { ...counted, retrying: this.#retries.size, nextRetryAt }
  }

  get hasFailures(): boolean {
    return [this.#ended.get('failed'), this.#ended.get('parked')].some((count) => count !== 0)
  }
}

/** A lease that is taken back ends a run as well, by the same states. */
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
