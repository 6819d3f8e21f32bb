import { isRecord } from '../json/record.ts'
import { type AnyPhaseState, phases as phasesDefault, transition } from './phases.ts'

/**
 * Fingerprints of what a phase reads, by the name of the input; `children` and `references` have one fingerprint for each
 * child or reference.
 */
export interface Inputs {
  /** The names of its files. */
  readonly files?: string
  readonly steer?: string
  readonly prompt?: string
  readonly target?: string
  /** The list of references. */
  readonly refs?: string
  /** The content that a phase before it built. */
  readonly content?: string
  /** The contents of its files, by name; one fingerprint of all where there are many. */
  readonly contents?: Readonly<Record<string, string>> | string
  readonly children?: Readonly<Record<string, string>>
  readonly references?: Readonly<Record<string, string>>
}

export type InputName = keyof Inputs | 'architectEvery'

/**
 * Which inputs a phase consumes, by the place of the phase: the first phase plans, the last reviews, the
 * phases between them build.
 */
export const firstInputs = ['files', 'steer', 'prompt', 'target', 'refs'] as const
export const middleInputs = ['contents', 'prompt', 'target', 'children', 'references'] as const
export const lastInputs = ['prompt', 'target'] as const
/** Inputs that others changed: they count only some time after the last build, and when no child is owed. */
const softInputs: readonly string[] = ['children', 'references']

export interface Changed {
  readonly phase: string
  readonly input: InputName
  readonly before: string
  readonly after: string
  /** Names of files, children or references that differ, at most ten. */
  readonly names?: readonly string[]
  /** When it begins to count, where that is later. */
  readonly from?: number
  /** The child that is owed, for which the item waits. */
  readonly waitsFor?: string
}

export interface InvalidateInput {
  readonly now: number
  readonly phaseState: AnyPhaseState
  readonly phases?: readonly string[] | undefined
  /** What each phase would consume now. */
  readonly current: Readonly<Record<string, Inputs>>
  /** What each phase consumed at its last success. */
  readonly consumed: Readonly<Record<string, Inputs | undefined>>
  /** Full cycles since the first phase succeeded. */
  readonly cycles: number
  readonly architectEvery: number
  /** When its content was last built. */
  readonly builtAt: number | null
  readonly propagateAfterMs: number
  /** A child with work left, if there is one. */
  readonly owedChild: string | null
}

export interface Invalidated {
  readonly phaseState: AnyPhaseState
  /** What differs, whether or not it counts yet. */
  readonly changed: readonly Changed[]
  /** The instant from which another difference counts; null where none is pending. */
  readonly nextAt: number | null
}

/**
 * Compares what each phase consumed with what it would consume now. Only phases that are fresh are judged: a phase that is
 * owed reads the current inputs anyway.
 */
export function invalidate(input: InvalidateInput): Invalidated {
  const { now, phases = phasesDefault, consumed, current } = input
  const changed: Changed[] = []
  let state = input.phaseState
  for (const phase of phases) {
    if (input.phaseState[phase] !== 'fresh') continue
    const found = differences(phase, consumed[phase], current[phase] ?? {}).map((one) => soft(one, input))
    if (phase === phases[0] && input.cycles >= input.architectEvery && consumed[phase] !== undefined) {
      const after = `${input.cycles} cycles`
      found.push({ phase, input: 'architectEvery', before: `every ${input.architectEvery}`, after })
    }
    changed.push(...found)
    if (found.some((one) => counts(one, now))) {
      state = transition({ phaseState: state, event: { type: 'invalidate', phase }, phases })
    }
  }
  const later = changed.flatMap(({ from, waitsFor }) =>
    from !== undefined && from > now && waitsFor === undefined ? [from] : [],
  )
  return { phaseState: state, changed, nextAt: later.length === 0 ? null : Math.min(...later) }
}

function counts({ from, waitsFor }: Changed, now: number): boolean {
  return waitsFor === undefined && (from === undefined || from <= now)
}

function soft(one: Changed, { builtAt, propagateAfterMs, owedChild }: InvalidateInput): Changed {
  if (!softInputs.includes(one.input)) return one
  const from = builtAt === null ? undefined : builtAt + propagateAfterMs
  return { ...one, ...(from !== undefined && { from }), ...(owedChild !== null && { waitsFor: owedChild }) }
}

/**
 * The inputs of a phase that differ from those that it consumed. A phase without recorded inputs is left alone: its first run under Belfry
 * records them.
 */
export function differences(phase: string, before: Inputs | undefined, after: Inputs): Changed[] {
  if (before === undefined) return []
  const names = Object.keys(after) as (keyof Inputs)[]
  return names.flatMap((input): Changed[] => {
    const [old, fresh] = [before[input], after[input]]
    if (old === undefined || fresh === undefined) return []
    if (isRecord(old) && isRecord(fresh)) {
      const differing = differingNames(old as Readonly<Record<string, string>>, fresh)
      if (differing.length === 0) return []
      const count = `${differing.length} of ${new Set([...Object.keys(old), ...Object.keys(fresh)]).size}`
      return [{ phase, input, before: 'as consumed', after: `${count} differ`, names: differing.slice(0, 10) }]
    }
    const [was, is] = [textOf(old), textOf(fresh)]
    return was === is ? [] : [{ phase, input, before: was, after: is }]
  })
}

function differingNames(old: Readonly<Record<string, string>>, fresh: Readonly<Record<string, string>>): string[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].sort()
  return names.filter((name) => old[name] !== fresh[name])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : 'many'
}
