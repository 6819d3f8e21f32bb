import { isRecord } from '../json/record.ts'
import { type AnyPhaseState, owedPhase, phases as phasesDefault, soundState, transition } from './phases.ts'

/** A phase of a corpus: the fields of a document that it writes, and how long it may take. */
export interface PhaseForm {
  readonly name: string
  /** The first field is the answer of the phase. */
  readonly writes: readonly string[]
  readonly timeoutMs: number
}

export const phaseForms: readonly PhaseForm[] = [
  { name: 'architect', writes: ['_builder'], timeoutMs: 180_000 },
  { name: 'builder', writes: ['_content', '_state'], timeoutMs: 360_000 },
  { name: 'critic', writes: ['_feedback'], timeoutMs: 240_000 },
]

export interface DerivedPhases {
  readonly phaseState: AnyPhaseState
  /** A phase was written as running, and no run of it is known: it was interrupted, which counts as an attempt. */
  readonly wasInterrupted: boolean
}

/**
 * The phases of an item as its document has them. A stored state is made sound; a document without one, such as the original program
 * left it, is judged by what it contains.
 */
export function derivePhases(
  document: Readonly<Record<string, unknown>>,
  forms: readonly PhaseForm[] = phaseForms,
): DerivedPhases {
  const names = forms.map(({ name }) => name)
  const { _phaseState: stored, _error: error } = document
  if (isRecord(stored)) {
    const wasInterrupted = names.some((name) => stored[name] === 'running')
    return { phaseState: soundState(stored, names), wasInterrupted }
  }
  if (isRecord(error) && names.includes(error.step as string)) {
    return { phaseState: afterError(document, error.step as string, forms), wasInterrupted: false }
  }
  const done = doneCount(document, forms)
  return { phaseState: freshUpTo(done, names), wasInterrupted: false }
}

/** The phase that failed waits for its retry; what comes after it is as old as what it was made from. */
function afterError(
  document: Readonly<Record<string, unknown>>,
  step: string,
  forms: readonly PhaseForm[],
): AnyPhaseState {
  const names = forms.map(({ name }) => name)
  const stepAt = names.indexOf(step)
  const isMade = document[forms[stepAt]?.writes[0] ?? ''] !== undefined
  const isMiddle = stepAt > 0 && stepAt < names.length - 1
  const later = isMiddle || (stepAt === 0 && !isMade) ? 'stale' : 'fresh'
  return Object.fromEntries(names.map((name, at) => [name, at < stepAt ? 'fresh' : at === stepAt ? 'failed' : later]))
}

/** The last phase counts only beside the one before it: a review without content does not count. */
function doneCount(document: Readonly<Record<string, unknown>>, forms: readonly PhaseForm[]): number {
  const has = ({ writes }: PhaseForm) => {
    const value = document[writes[0] ?? '']
    return value !== undefined && value !== null && value !== ''
  }
  const made = forms.slice(0, -1).findLastIndex(has) + 1
  const last = forms.at(-1)
  return made === forms.length - 1 && last !== undefined && has(last) ? forms.length : made
}

function freshUpTo(count: number, names: readonly string[]): AnyPhaseState {
  return soundState(Object.fromEntries(names.slice(0, count).map((name) => [name, 'fresh'])), names)
}

/** The state in which a forced phase is the next one. */
export function owedFrom(
  phaseState: AnyPhaseState,
  phase: string,
  names: readonly string[] = phasesDefault,
): AnyPhaseState {
  const retried = transition({ phaseState, event: { type: 'retry' }, phases: names })
  const first = owedPhase(retried, names)
  if (first !== null && names.indexOf(first) < names.indexOf(phase)) {
    // The phases before it stay as they are: a person requested this one.
    const fresh = Object.fromEntries(names.slice(0, names.indexOf(phase)).map((name) => [name, 'fresh']))
    return transition({
      phaseState: { ...retried, ...fresh } as AnyPhaseState,
      event: { type: 'invalidate', phase },
      phases: names,
    })
  }
  return transition({ phaseState: retried, event: { type: 'invalidate', phase }, phases: names })
}
