import { needOf, type Target } from '../../core/target.ts'
import type { CommandTarget } from '../../targets/command/command-target.ts'
import type { HandlerTarget } from '../../targets/handler/kind.ts'
import type { HttpTarget } from '../../targets/http/http-target.ts'
import { kindOf, type TargetKind } from '../../targets/kind.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { nearest } from '../input/nearest-name.ts'
import { isShown, type Problem } from '../input/refuse-input.ts'

/** Target types of parts, by kind. The module of a part that brings a kind declares it here. */
// biome-ignore lint/suspicious/noEmptyInterface: parts fill it.
export interface PartTargets {}

/** Kinds of targets that may receive notifications besides requests and programs; declared in the same way. */
// biome-ignore lint/suspicious/noEmptyInterface: parts fill it.
export interface PartReceivers {}

/** What a run does: exactly one kind. Outside hosts lease work without a target. */
export type TargetInput = HandlerTarget | CommandTarget | HttpTarget | PartTargets[keyof PartTargets]

export interface ReadTarget {
  /** The target as it is stored: relative paths resolved, with its lane. Absent when it is not valid. */
  readonly target: Target | null | undefined
  readonly kind: TargetKind | undefined
  readonly problems: readonly Problem[]
}

export interface TargetContext {
  /** The folder that relative programs and folders are resolved against. */
  readonly folder: string
  readonly kinds: readonly TargetKind[]
  /** The field that holds the target. */
  readonly field?: string
  /** What the target sends, where it sends messages of a part, which not all kinds can do. Refusals name it. */
  readonly sends?: string
}

/** The kinds that a caller may write. */
export function offeredKinds(kinds: readonly TargetKind[], { sends }: Pick<TargetContext, 'sends'> = {}): TargetKind[] {
  const isOffered = (kind: TargetKind) => sends === undefined || typeof kind.message === 'object'
  return kinds.filter((kind) => kind.closed === undefined && isOffered(kind))
}

/** Reads a target by the kind it names and reports every problem. */
export function targetOf(given: unknown, place: TargetContext): ReadTarget {
  const { field = 'target', kinds } = place
  if (given === undefined || given === null) return { target: given, kind: undefined, problems: [] }
  if (typeof given !== 'object' || Array.isArray(given))
    return refused(field, isShown(given), `an object with ${oneOffered(place)}`)
  const target = onlyGiven(given) as Target
  const [kind, ...others] = kinds.filter(({ name }) => target[name] !== undefined)
  if (kind === undefined) return refused(...nameless(target, place))
  if (others.length > 0) return rivals(target, [kind, ...others], place)
  const { closed, message } = kind
  if (closed !== undefined) return refused(`${field}.${kind.name}`, closed, oneOffered(place))
  if (place.sends !== undefined && typeof message !== 'object') {
    const problem = message ?? `is ${kind.called}, which sends no ${place.sends}`
    return refused(field, problem, `an object with ${oneOffered(place)}`)
  }
  const { target: read, problems } = readKind(kind, target, place)
  return {
    target: read,
    kind,
    problems: problems.map((problem) => ({ ...problem, field: `${field}.${problem.field}` })),
  }
}

function oneOffered(place: TargetContext): string {
  const names = offeredKinds(place.kinds, place).map(({ name }) => name)
  return `one of ${names.join(', ')}`
}

function readKind(
  kind: TargetKind,
  { lane, ...given }: Target,
  { folder, sends }: TargetContext,
): Omit<ReadTarget, 'kind'> {
  const own = kind.laneOf === undefined && lane !== undefined ? { ...given, lane } : given
  const resolved = kind.resolved?.(own, folder) ?? own
  const manner = sends !== undefined && typeof kind.message === 'object' ? kind.message : undefined
  const problems = (manner ?? kind).problems(resolved)
  if (problems.length > 0) return { target: undefined, problems }
  const sent = manner?.resolved?.(resolved) ?? resolved
  const name = kind.laneOf?.(sent)
  const target = name === undefined ? sent : { ...sent, lane: name }
  const answer = needOf(target)
  if ('problem' in answer)
    return {
      target: undefined,
      problems: [{ field: kind.name, problem: answer.problem, expected: 'a name that can be stored' }],
    }
  if (lane === undefined || lane === target.lane) return { target, problems: [] }
  return {
    target: undefined,
    problems: [{ field: 'lane', problem: isShown(lane), expected: `${name}, the default` }],
  }
}

/** A target with several kinds: reports the problems of each kind too. */
function rivals(target: Target, named: readonly TargetKind[], place: TargetContext): ReadTarget {
  const { field = 'target' } = place
  const problem = `has ${named.map(({ name }) => name).join(' and ')}`
  const more = named.flatMap((kind) => {
    const own = onlyGiven(Object.fromEntries(Object.keys(kind.form.shape).map((name) => [name, target[name]])))
    return readKind(kind, own as Target, place).problems
  })
  const placed = more.map((each) => ({ ...each, field: `${field}.${each.field}` }))
  const clash = { field, problem, expected: `exactly ${oneOffered(place)}` }
  return { target: undefined, kind: undefined, problems: [clash, ...placed] }
}

function nameless(target: Target, place: TargetContext): [string, string, string] {
  const { field = 'target', kinds } = place
  const [first] = Object.keys(target)
  const expected = oneOffered(place)
  if (first === undefined) return [field, 'is empty', `an object with ${expected}`]
  const meant = nearest(
    first,
    offeredKinds(kinds, place).map(({ name }) => name),
  )
  return [
    `${field}.${first}`,
    'is not a kind of target',
    meant === undefined ? expected : `${meant}, if that was meant`,
  ]
}

/** Files that a target names in this folder and that do not exist, whatever else may be wrong with it. */
export function absentIn(target: unknown, { field = 'target', folder, kinds }: TargetContext): Problem[] {
  const kind = kindOf(target, kinds)
  const problems = kind?.absent?.(target as Target, folder) ?? []
  return problems.map((problem) => ({ ...problem, field: `${field}.${problem.field}` }))
}

/** The refusal of fields that a worker judges, on work without a target. */
export const outsideHosts = {
  problem: 'is given, and there is no target: outside hosts execute it',
  expected: 'a target too, which workers execute; or leave it out',
}

export function refused(field: string, problem: string, expected: string): ReadTarget {
  return { target: undefined, kind: undefined, problems: [{ field, problem, expected }] }
}
