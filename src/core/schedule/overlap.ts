import type { Problem } from '../problem.ts'
import type { LiveStatus } from '../run/run-state.ts'
import type { MissedMode } from '../timing/missed.ts'

export type OverlapMode = 'skip' | 'queue' | 'allow' | 'cancel'

/** A live run of the same schedule. */
export interface LiveRun {
  readonly id: string
  readonly status: LiveStatus
  /** Whether the run was made for a missed occurrence. */
  readonly isCatchUp?: boolean | undefined
}

export interface OverlapInput {
  readonly overlap?: OverlapMode | undefined
  readonly missed?: MissedMode | undefined
  readonly queueMax?: number | undefined
  /** The live runs of the schedule, oldest first. */
  readonly live: readonly LiveRun[]
  /** What requests the new run: a missed occurrence, a punctual one, or a person who gets an answer. */
  readonly cause: 'occurrence' | 'punctual-occurrence' | 'run-now'
  readonly forced?: boolean | undefined
}

export type OverlapDecision =
  | { readonly action: 'make'; readonly reason: string }
  /** The new run is created at once, but not leased before the runs that it replaces have ended. */
  | { readonly action: 'make-and-cancel'; readonly cancel: readonly string[]; readonly reason: string }
  | { readonly action: 'skip'; readonly because: string; readonly reason: string }
  | { readonly action: 'refuse'; readonly because: string; readonly reason: string }

const queueMaxDefault = 1
/**
 * The number of runs that can be caught up at once: a shorter line would drop runs that `missed: all`
 * has just made.
 */
const queueMaxDefaultForAll = 100

/** Decides whether a schedule gets another run while some of its runs are live, and names the blocking run. */
export function overlapDecision(input: OverlapInput): OverlapDecision {
  const { live, cause, forced = false } = input
  const mode = overlapOf(input)
  const newest = live.at(-1)
  if (newest === undefined) return { action: 'make', reason: 'no run of the schedule is live' }
  switch (mode) {
    case 'allow':
      return { action: 'make', reason: 'the schedule allows overlap' }
    case 'cancel':
      return {
        action: 'make-and-cancel',
        cancel: live.map(({ id }) => id),
        reason: 'the new run replaces the live ones',
      }
    case 'queue': {
      // Catching up may take long and must not block a punctual occurrence.
      const isBlind = cause === 'punctual-occurrence'
      const waiting = live.filter(({ status, isCatchUp }) => status !== 'leased' && !(isBlind && isCatchUp === true))
      if (waiting.length < queueMaxOf(input)) return { action: 'make', reason: 'the queue of the schedule has room' }
      return instead(waiting.at(-1) ?? newest, 'the queue of the schedule is full', cause, forced)
    }
    case 'skip':
      return instead(live[0] ?? newest, 'a run of the schedule is live', cause, forced)
  }
}

/** A person gets a refusal with the reason, and may force the run; an occurrence is skipped, and the skip is recorded. */
function instead(run: LiveRun, reason: string, cause: OverlapInput['cause'], forced: boolean): OverlapDecision {
  if (cause !== 'run-now') return { action: 'skip', because: run.id, reason }
  return forced ? { action: 'make', reason: 'forced' } : { action: 'refuse', because: run.id, reason }
}

/** The rule in force: `missed: all` wants every occurrence to run, so they queue unless the schedule says otherwise. */
export function overlapOf({ overlap, missed }: Pick<OverlapInput, 'overlap' | 'missed'>): OverlapMode {
  return overlap ?? (missed === 'all' ? 'queue' : 'skip')
}

/** Whether a new run of the schedule waits behind its live runs. */
export function standsBehind(spec: Pick<OverlapInput, 'overlap' | 'missed'>): boolean {
  const mode = overlapOf(spec)
  return mode === 'queue' || mode === 'cancel'
}

/** How many runs may wait under `queue`. */
export function queueMaxOf({ queueMax, missed }: Pick<OverlapInput, 'queueMax' | 'missed'>): number {
  return queueMax ?? (missed === 'all' ? queueMaxDefaultForAll : queueMaxDefault)
}

/** All problems of a schedule's overlap rules. */
export function overlapProblems({
  overlap,
  missed,
  queueMax,
}: Pick<OverlapInput, 'overlap' | 'missed' | 'queueMax'>): Problem[] {
  const problems: Problem[] = []
  if (missed === 'all' && (overlap === 'skip' || overlap === 'cancel')) {
    problems.push({
      field: 'overlap',
      problem: `is ${overlap}, which would drop the occurrences that \`missed\` all catches up`,
      expected: 'queue or allow, or another rule for `missed`',
    })
  }
  if (queueMax !== undefined && (!Number.isSafeInteger(queueMax) || queueMax < 1)) {
    problems.push({ field: 'queueMax', problem: `is ${queueMax}`, expected: 'an integer of at least 1' })
  }
  if (queueMax !== undefined && overlapOf({ overlap, missed }) !== 'queue') {
    problems.push({
      field: 'queueMax',
      problem: 'applies only when `overlap` is queue',
      expected: 'also `overlap` queue, or `missed` all',
    })
  }
  return problems
}
