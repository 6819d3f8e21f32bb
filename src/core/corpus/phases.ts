export const phases = ['architect', 'builder', 'critic'] as const

/** The phases of an item where its corpus has no list of its own. */
export type Phase = (typeof phases)[number]

/** `fresh` is done, `stale` must be done again after the phases before it, `pending` is next, `failed` waits for a retry. */
export type PhaseStatus = 'fresh' | 'stale' | 'pending' | 'running' | 'failed'

export type PhaseState<Name extends string = Phase> = Readonly<Record<Name, PhaseStatus>>

/** A state with the phases of its corpus. */
export type AnyPhaseState = PhaseState<string>

export type PhaseEvent<Name extends string = Phase> =
  | { readonly type: 'start'; readonly phase: Name }
  /** The phase was returned unfinished. */
  | { readonly type: 'stop'; readonly phase: Name }
  | { readonly type: 'succeed'; readonly phase: Name }
  | { readonly type: 'fail'; readonly phase: Name }
  | { readonly type: 'retry' }
  /** The phase must be done again, and all after it. */
  | { readonly type: 'invalidate'; readonly phase: Name }
  | { readonly type: 'invalidate-architect' }
  | { readonly type: 'invalidate-builder' }

/** Phases in their order: their names, or their whole forms. */
export type PhaseList<Name extends string = string> = readonly (Name | { readonly name: Name })[]

/** The names of phases in their order. Default: architect, builder, critic. */
export function namesOfPhases<Name extends string>(
  list: PhaseList<Name> = phases as readonly string[] as readonly Name[],
): readonly Name[] {
  return list.map((one) => (typeof one === 'string' ? one : one.name))
}

export interface TransitionInput<Name extends string = Phase> {
  readonly phaseState: PhaseState<Name>
  readonly event: PhaseEvent<Name>
  /** The phases in their order. Default: architect, builder, critic. */
  readonly phases?: PhaseList<Name> | undefined
}

/**
 * Moves an item through its phases. After every event at most one phase is active, the first that is not fresh: a later phase
 * would build on something about to change.
 */
export function transition<Name extends string = Phase>({
  phaseState,
  event,
  phases: list,
}: TransitionInput<Name>): PhaseState<Name> {
  const names = namesOfPhases(list)
  return settled(applied(phaseState, event, names), names)
}

/** The first phase that is not fresh: the next work on the item. */
export function owedPhase<Name extends string = Phase>(
  phaseState: PhaseState<Name>,
  list?: PhaseList<Name>,
): Name | null {
  return namesOfPhases(list).find((phase) => phaseState[phase] !== 'fresh') ?? null
}

/**
 * A state with each phase in it, and at most one of them active: a state that was stored by hand or by another program is
 * repaired.
 */
export function soundState(stored: Readonly<Record<string, unknown>>, names: readonly string[]): AnyPhaseState {
  const known = (status: unknown): PhaseStatus =>
    status === 'fresh' || status === 'failed' || status === 'pending' ? status : 'stale'
  return settled(
    mapped(names, (phase) => known(stored[phase])),
    names,
  )
}

/** The state of an item whose corpus has another list of phases since: a phase that was added is owed after those before it. */
export function stateWith(state: AnyPhaseState, names: readonly string[]): AnyPhaseState {
  return settled(
    mapped(names, (phase) => state[phase] ?? 'stale'),
    names,
  )
}

function applied<Name extends string>(
  state: PhaseState<Name>,
  event: PhaseEvent<Name>,
  names: readonly Name[],
): PhaseState<Name> {
  switch (event.type) {
    case 'start':
      return state[event.phase] === 'pending' ? { ...state, [event.phase]: 'running' } : state
    case 'stop':
      return state[event.phase] === 'running' ? { ...state, [event.phase]: 'pending' } : state
    case 'succeed':
      return succeeded(state, event.phase, names)
    case 'fail':
      return { ...state, [event.phase]: 'failed' }
    case 'retry':
      return mapped(names, (phase) => (state[phase] === 'failed' ? 'pending' : state[phase]))
    case 'invalidate':
      return invalidated(state, event.phase, names)
    case 'invalidate-architect':
      return invalidated(state, 'architect', names)
    case 'invalidate-builder':
      return invalidated(state, 'builder', names)
  }
}

function invalidated<Name extends string>(
  state: PhaseState<Name>,
  first: string,
  names: readonly Name[],
): PhaseState<Name> {
  const firstAt = names.indexOf(first as Name)
  return mapped(names, (phase, at) => {
    if (at < firstAt) return state[phase]
    return at === firstAt ? unlessFailed(state[phase]) : outdated(state[phase])
  })
}

function succeeded<Name extends string>(state: PhaseState<Name>, done: Name, names: readonly Name[]): PhaseState<Name> {
  const doneAt = names.indexOf(done)
  return mapped(names, (phase, at) => {
    if (at < doneAt) return state[phase]
    if (at === doneAt) return 'fresh'
    return at === doneAt + 1 ? unlessFailed(state[phase]) : outdated(state[phase])
  })
}

function settled<Name extends string>(state: PhaseState<Name>, names: readonly Name[]): PhaseState<Name> {
  const owed = owedPhase(state, names)
  return mapped(names, (phase) => {
    const status = state[phase]
    if (phase === owed) return status === 'stale' ? 'pending' : status
    return status === 'pending' || status === 'running' ? 'stale' : status
  })
}

function unlessFailed(status: PhaseStatus): PhaseStatus {
  return status === 'failed' ? 'failed' : 'pending'
}

function outdated(status: PhaseStatus): PhaseStatus {
  return status === 'fresh' ? 'stale' : status
}

function mapped<Name extends string>(
  names: readonly Name[],
  change: (phase: Name, at: number) => PhaseStatus,
): PhaseState<Name> {
  return Object.fromEntries(names.map((phase, at) => [phase, change(phase, at)])) as PhaseState<Name>
}
