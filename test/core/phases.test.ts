import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  owedPhase,
  type PhaseEvent,
  type PhaseState,
  phases,
  type TransitionInput,
  transition,
} from '../../src/core/corpus/phases.ts'
import { expectMatch, vectors } from '../vectors.ts'

const events: PhaseEvent[] = [
  ...phases.flatMap((phase) => (['start', 'stop', 'succeed', 'fail'] as const).map((type) => ({ type, phase }))),
  { type: 'retry' },
  { type: 'invalidate-architect' },
  { type: 'invalidate-builder' },
]
const begun: PhaseState = { architect: 'pending', builder: 'stale', critic: 'stale' }
const done: PhaseState = { architect: 'fresh', builder: 'fresh', critic: 'fresh' }
const active = (state: PhaseState) => phases.filter((phase) => state[phase] === 'pending' || state[phase] === 'running')

/** Every state that some sequence of events leads to. */
function reachable(): PhaseState[] {
  const found = new Map<string, PhaseState>()
  const open = [begun, done]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = JSON.stringify(state)
    if (found.has(key)) continue
    found.set(key, state)
    for (const event of events) open.push(transition({ phaseState: state, event }))
  }
  return [...found.values()]
}

describe('transition', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<TransitionInput, PhaseState>('phases').entries()) {
      expectMatch(transition(vector.in), vector.out, `phases[${index}]`)
    }
  })

  it('has no reachable state with two active phases, nor with work on a phase before which something is owed', () => {
    const states = reachable()
    expect(states.length).toBeGreaterThan(10)
    for (const state of states) {
      expect(active(state).length).toBeLessThanOrEqual(1)
      for (const phase of active(state)) expect(phase).toBe(owedPhase(state))
    }
  })

  it('brings an item from any state to done by retrying and doing what it owes', () => {
    for (const reached of reachable()) {
      let state = transition({ phaseState: reached, event: { type: 'retry' } })
      for (let step = 0; step < 5; step += 1) {
        const phase = owedPhase(state)
        if (phase !== null) state = transition({ phaseState: state, event: { type: 'succeed', phase } })
        if (state.builder === 'failed' || state.critic === 'failed')
          state = transition({ phaseState: state, event: { type: 'retry' } })
      }
      expect(state).toEqual(done)
    }
  })

  it('takes a running phase back when something before it is invalidated', () => {
    const running: PhaseState = { architect: 'fresh', builder: 'running', critic: 'stale' }
    expect(transition({ phaseState: running, event: { type: 'invalidate-architect' } })).toEqual(begun)
  })

  it('starts only what is pending, and gives back only what is running', () => {
    const running: PhaseState = { ...begun, architect: 'running' }
    expect(transition({ phaseState: begun, event: { type: 'start', phase: 'architect' } })).toEqual(running)
    expect(transition({ phaseState: begun, event: { type: 'start', phase: 'critic' } })).toEqual(begun)
    expect(transition({ phaseState: done, event: { type: 'start', phase: 'critic' } })).toEqual(done)
    const failed: PhaseState = { ...begun, architect: 'failed' }
    expect(transition({ phaseState: failed, event: { type: 'start', phase: 'architect' } })).toEqual(failed)
    expect(transition({ phaseState: running, event: { type: 'stop', phase: 'architect' } })).toEqual(begun)
    expect(transition({ phaseState: done, event: { type: 'stop', phase: 'critic' } })).toEqual(done)
  })

  it('mends a state that breaks the invariant, wherever it came from, and changes no input', () => {
    const status = fc.constantFrom('fresh', 'stale', 'pending', 'running', 'failed')
    const states = fc.record({ architect: status, builder: status, critic: status }) as fc.Arbitrary<PhaseState>
    fc.assert(
      fc.property(states, fc.constantFrom(...events), (phaseState, event) => {
        expect(active(transition({ phaseState: Object.freeze(phaseState), event })).length).toBeLessThanOrEqual(1)
      }),
    )
  })
})
