import type { Problem } from '../problem.ts'
import type { LiveStatus } from '../run/run-state.ts'
import type { MissedMode } from '../timing/missed.ts'

export type OverlapMode = 'skip' | 'queue' | 'allow' | 'cancel'

/** A live run of the same schedule. */
export interface LiveRun {
  readonly id: string
  readonly status: LiveStatus
  /** It was made for an occurrence that had been missed. */
  readonly isCatchUp?: boolean | undefined
}

export interface OverlapInput {
  readonly overlap?: OverlapMode | undefined
  readonly missed?: MissedMode | undefined
  readonly queueMax?: number | undefined
  /** The live runs of the schedule, oldest first. */
  readonly live: readonly LiveRun[]
  /** What asks for the new run: a missed occurrence, one that is on time, or a person who can be answered. */
  readonly cause: 'occurrence' | 'punctual-occurrence' | 'run-now'
  readonly forced?: boolean | undefined
}

export type OverlapDecision =
  | { readonly action: 'make'; readonly reason: string }
  /** The new run is made at once, and not leased before those it replaces have ended. */
  | { readonly action: 'make-and-cancel'; readonly cancel: readonly string[]; readonly reason: string }
  | { readonly action: 'skip'; readonly because: string; readonly reason: string }
  | { readonly action: 'refuse'; readonly because: string; readonly reason: string }

const queueMaxDefault = 1
/** As many as can be made up at once: a shorter line would drop what `missed: all` has just made. */
const queueMaxDefaultForAll = 100

/** Decides whether a schedule gets another run while some of its runs are live, and names the one in the way. */
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
      // Catching up may take as long as it likes; what is on time is not pushed out by it.
      const isBlind = cause === 'punctual-occurrence'
      const waiting = live.filter(({ status, isCatchUp }) => status !== 'leased' && !(isBlind && isCatchUp === true))
      if (waiting.length < queueMaxOf(input)) return { action: 'make', reason: 'the queue of the schedule has room' }
      return instead(waiting.at(-1) ?? newest, 'as many runs of the schedule wait as may', cause, forced)
    }
    case 'skip':
      return instead(live[0] ?? newest, 'a run of the schedule is live', cause, forced)
  }
}

/** A person is refused and told why, and may insist; an occurrence is skipped, and the skip is recorded. */
function instead(run: LiveRun, reason: string, cause: OverlapInput['cause'], forced: boolean): OverlapDecision {
  if (cause !== 'run-now') return { action: 'skip', because: run.id, reason }
  return forced ? { action: 'make', reason: 'forced' } : { action: 'refuse', because: run.id, reason }
}

/** The rule in force: `missed: all` wants every occurrence to run, so they queue unless the schedule says otherwise. */
export function overlapOf({ overlap, missed }: Pick<OverlapInput, 'overlap' | 'missed'>): OverlapMode {
  return overlap ?? (missed === 'all' ? 'queue' : 'skip')
}

/** Whether a new run of the schedule stands behind those that are live, instead of beside them. */
export function standsBehind(spec: Pick<OverlapInput, 'overlap' | 'missed'>): boolean {
  const mode = overlapOf(spec)
  return mode === 'queue' || mode === 'cancel'
}

/** How many may wait under `queue`. */
export function queueMaxOf({ queueMax, missed }: Pick<OverlapInput, 'queueMax' | 'missed'>): number {
  return queueMax ?? (missed === 'all' ? queueMaxDefaultForAll : queueMaxDefault)
}

/** Says what is wrong with a schedule's overlap rules, so that a door can refuse them. */
export function overlapProblems({
  overlap,
  missed,
  queueMax,
}: Pick<OverlapInput, 'overlap' | 'missed' | 'queueMax'>): Problem[] {
  const problems: Problem[] = []
  if (missed === 'all' && (overlap === 'skip' || overlap === 'cancel')) {
    problems.push({
      field: 'overlap',
      problem: `is ${overlap}, which would drop the occurrences that \`missed\` all wants made up`,
      expected: 'queue or allow, or another rule for `missed`',
    })
  }
  if (queueMax !== undefined && (!Number.isSafeInteger(queueMax) || queueMax < 1)) {
    problems.push({ field: 'queueMax', problem: `is ${queueMax}`, expected: 'an integer of at least 1' })
  }
  if (queueMax !== undefined && overlapOf({ overlap, missed }) !== 'queue') {
    problems.push({
      field: 'queueMax',
      problem: 'means nothing unless `overlap` is queue',
      expected: '`overlap` queue or `missed` all too',
    })
  }
  return problems
}
