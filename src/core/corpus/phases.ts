export const phases = ['architect', 'builder', 'critic'] as const

export type Phase = (typeof phases)[number]

/** `fresh` is done, `stale` must be done again after the phases before it, `pending` is next, `failed` waits for a retry. */
export type PhaseStatus = 'fresh' | 'stale' | 'pending' | 'running' | 'failed'

export type PhaseState = Readonly<Record<Phase, PhaseStatus>>

export type PhaseEvent =
  | { readonly type: 'start'; readonly phase: Phase }
  /** The phase was returned unfinished. */
  | { readonly type: 'stop'; readonly phase: Phase }
  | { readonly type: 'succeed'; readonly phase: Phase }
  | { readonly type: 'fail'; readonly phase: Phase }
  | { readonly type: 'retry' }
  | { readonly type: 'invalidate-architect' }
  | { readonly type: 'invalidate-builder' }

export interface TransitionInput {
  readonly phaseState: PhaseState
  readonly event: PhaseEvent
}

/**
 * Moves an item through its phases. After every event at most one phase is active, the first that is not fresh: a later phase
 * would build on something about to change.
 */
export function transition({ phaseState, event }: TransitionInput): PhaseState {
  return settled(applied(phaseState, event))
}

/** The first phase that is not fresh: the next work on the item. */
export function owedPhase(phaseState: PhaseState): Phase | null {
  return phases.find((phase) => phaseState[phase] !== 'fresh') ?? null
}

function applied(state: PhaseState, event: PhaseEvent): PhaseState {
  switch (event.type) {
    case 'start':
      return state[event.phase] === 'pending' ? { ...state, [event.phase]: 'running' } : state
    case 'stop':
      return state[event.phase] === 'running' ? { ...state, [event.phase]: 'pending' } : state
    case 'succeed':
      return succeeded(state, event.phase)
    case 'fail':
      return { ...state, [event.phase]: 'failed' }
    case 'retry':
      return mapped(state, (status) => (status === 'failed' ? 'pending' : status))
    case 'invalidate-architect':
      return mapped(state, (status, phase) => (phase === 'architect' ? unlessFailed(status) : outdated(status)))
    case 'invalidate-builder':
      return { ...state, builder: unlessFailed(state.builder), critic: outdated(state.critic) }
  }
}

function succeeded(state: PhaseState, done: Phase): PhaseState {
  const doneAt = phases.indexOf(done)
  return mapped(state, (status, phase) => {
    const at = phases.indexOf(phase)
    if (at < doneAt) return status
    if (at === doneAt) return 'fresh'
    return at === doneAt + 1 ? unlessFailed(status) : outdated(status)
  })
}

function settled(state: PhaseState): PhaseState {
  const owed = owedPhase(state)
  return mapped(state, (status, phase) => {
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

function mapped(state: PhaseState, change: (status: PhaseStatus, phase: Phase) => PhaseStatus): PhaseState {
  return {
    architect: change(state.architect, 'architect'),
    builder: change(state.builder, 'builder'),
    critic: change(state.critic, 'critic'),
  }
}
