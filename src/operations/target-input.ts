import { needOf, type Target, type TargetKind, targetKinds } from '../core/target.ts'
import { type CommandTarget, commandTargetProblems, resolveCommandTarget } from '../targets/command/input.ts'
import { type HttpTarget, httpTargetProblems } from '../targets/http/input.ts'
import { nearest } from './nearest.ts'
import { onlyGiven } from './only-given.ts'
import { isShown, type Problem } from './problem.ts'

export interface HandlerTarget {
  readonly handler: string
}

/** What a run does: exactly one of the kinds. Work without a target is for outside hosts. */
export type TargetInput = HandlerTarget | CommandTarget | HttpTarget

export interface ReadTarget {
  /** As it is stored: relative paths resolved. Absent where it is not sound. */
  readonly target: Target | null | undefined
  readonly kind: TargetKind | undefined
  readonly problems: readonly Problem[]
}

/** The kinds of targets that runs can have, each with what it knows of its own fields. */
const kinds: Readonly<Record<string, (target: Target, place: TargetPlace) => Omit<ReadTarget, 'kind'>>> = {
  handler: (target) => ({ target, problems: handlerProblems(target) }),
  command(target, { folder }) {
    const resolved = resolveCommandTarget(target, { cwd: folder })
    return { target: resolved, problems: commandTargetProblems(resolved) }
  },
  http: (target, { isNotice = false }) => ({ target, problems: httpTargetProblems(target, { isNotice }) }),
}

const known = Object.keys(kinds)

export interface TargetPlace {
  /** Where relative programs and folders begin. */
  readonly folder: string
  /** The field that it stands in. */
  readonly field?: string
  /** The kinds that it may have. */
  readonly allowed?: readonly string[]
  /** Whether it sends notifications, which have forms of their own. */
  readonly isNotice?: boolean
}

/** Reads a target and says everything that is wrong with it, by the kind that it names. */
export function targetOf(given: unknown, place: TargetPlace): ReadTarget {
  const { field = 'target', allowed = known } = place
  if (given === undefined || given === null) return { target: given, kind: undefined, problems: [] }
  if (typeof given !== 'object' || Array.isArray(given)) {
    return refused(field, isShown(given), `an object with one of ${allowed.join(', ')}`)
  }
  const target = onlyGiven(given) as Target
  const named = [...targetKinds, 'prompt'].filter((kind) => target[kind] !== undefined)
  const [kind] = named
  if (kind === undefined) return refused(...nameless(target, field, allowed))
  if (named.length > 1) return rivals(target, named, place)
  const readKind = kinds[kind]
  if (readKind === undefined) {
    return refused(`${field}.${kind}`, 'is a kind that this version cannot execute yet', `one of ${allowed.join(', ')}`)
  }
  const { target: resolved, problems } = readKind(target, place)
  const placed = problems.map((problem) => ({ ...problem, field: `${field}.${problem.field}` }))
  return { target: problems.length === 0 ? resolved : undefined, kind: kind as TargetKind, problems: placed }
}

/** Of a target that has several kinds, what is wrong with each of them is told besides. */
function rivals(target: Target, named: readonly string[], place: TargetPlace): ReadTarget {
  const { field = 'target', allowed = known } = place
  const clash = { field, problem: `has ${named.join(' and ')}`, expected: `exactly one of ${allowed.join(', ')}` }
  const more = named.flatMap((kind) => {
    const { cwd, env } = target
    const own = onlyGiven({ [kind]: target[kind], ...(kind === 'command' && { cwd, env }) }) as Target
    return kinds[kind]?.(own, place).problems ?? []
  })
  const placed = more.map((problem) => ({ ...problem, field: `${field}.${problem.field}` }))
  return { target: undefined, kind: undefined, problems: [clash, ...placed] }
}

function nameless(target: Target, field: string, allowed: readonly string[]): [string, string, string] {
  const [first] = Object.keys(target)
  const expected = `one of ${allowed.join(', ')}`
  if (first === undefined) return [field, 'is empty', `an object with ${expected}`]
  const meant = nearest(first, allowed)
  return [`${field}.${first}`, 'is no kind of target', meant === undefined ? expected : `${meant}, if that was meant`]
}

function handlerProblems(target: Target): Problem[] {
  const strays = Object.keys(target).filter((field) => field !== 'handler')
  const answer = needOf(target)
  return [
    ...('problem' in answer ? [{ field: 'handler', problem: answer.problem, expected: 'the name of a handler' }] : []),
    ...strays.map((field) => ({ field, problem: 'is not known beside a handler', expected: 'the handler alone' })),
  ]
}

export function refused(field: string, problem: string, expected: string): ReadTarget {
  return { target: undefined, kind: undefined, problems: [{ field, problem, expected }] }
}
