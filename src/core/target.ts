import { hostKind, type TargetNeed } from './queue/plan-leases.ts'

/** What a run executes: one field names the kind of target and contains its work. */
export type Target = Readonly<Record<string, unknown>>

/** The fields that may stand beside the kind. `lane` names the executor, where its kind has names. */
const besideKind: ReadonlySet<string> = new Set(['cwd', 'env', 'lane'])
const nameLengthMax = 500

/**
 * What the target needs from its executor, or why the target is invalid. A run without a target needs a host.
 *
 * The function checks the form of a target and knows no kind, so that a program can fire and enqueue work that only other
 * workers execute.
 */
export function needOf(target: Target | null | undefined): { need: TargetNeed | null } | { problem: string } {
  if (target === null || target === undefined) return { need: null }
  const kinds = Object.keys(target).filter((field) => target[field] !== undefined && !besideKind.has(field))
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    return { problem: `has ${kinds.join(' and ') || 'no kind'}; it needs exactly one kind` }
  }
  const name = laneNameOf(kind, target)
  if (name === undefined) return { need: { kind } }
  if (typeof name !== 'string' || name === '') {
    return { problem: `names no ${kind}; it needs a text that is not empty` }
  }
  const wrong = wrongInName(name)
  return wrong === null ? { need: { kind, name } } : { problem: `names a ${kind} ${wrong}` }
}

/** The stored options of a run that are part of its lane: both are lists of names. */
export interface LaneOptions {
  readonly account?: readonly string[] | undefined
  readonly calendar?: readonly string[] | undefined
}

/** What a schedule, queue or run names as its calendars. */
export function calendarsIn(stored: object | null | undefined): readonly string[] {
  return (stored as LaneOptions | null | undefined)?.calendar ?? []
}

/** The accounts that a schedule or run names, in order of preference. */
export function accountsIn(stored: object | null | undefined): readonly string[] {
  return (stored as LaneOptions | null | undefined)?.account ?? []
}

/** What a run needs: an executor of its target, an account that is open, and open calendars. */
export function laneNeed(
  target: Target | null | undefined,
  options: LaneOptions | undefined,
): { need: TargetNeed | null } | { problem: string } {
  const answer = needOf(target)
  const { account = [], calendar = [] } = options ?? {}
  if ('problem' in answer || account.length + calendar.length === 0) return answer
  return {
    need: {
      ...(answer.need ?? { kind: hostKind }),
      ...(account.length > 0 && { account: account.join(',') }),
      ...(calendar.length > 0 && { calendar: calendar.join(',') }),
    },
  }
}

/** The name of the executor of a target. Handlers had names before `lane` existed. */
export function laneNameOf(kind: string, target: Target): unknown {
  return kind === 'handler' ? target.handler : target.lane
}

/** The name is a key in both databases: PostgreSQL refuses NUL, and half a surrogate pair would be replaced. */
function wrongInName(name: string): string | null {
  if (name.length > nameLengthMax) return `of ${name.length} characters; it needs at most ${nameLengthMax}`
  if (name.includes('\0')) return `with a NUL character at position ${name.indexOf('\0')}; it needs one without`
  return name.isWellFormed() ? null : 'with half of a surrogate pair; it needs well-formed Unicode'
}
