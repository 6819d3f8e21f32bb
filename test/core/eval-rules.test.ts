// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Rule, readRules } from '../../src/core/rule-form.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { freshState, type ScheduleState } from '../../src/core/schedule/state.ts'
import { type EvaluatedRules, evalRules, type RecordedAnswer } from '../../src/core/steering/eval-rules.ts'

const from = Date.UTC(2026, 0, 5, 9)
const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const target = { handler: 'a' }

function stateOf(spec: Partial<ScheduleSpec>, more: Partial<ScheduleState> = {}): ScheduleState {
  const whole = { name: 's', timing: { everyMs: 5 * minute }, target, ...spec }
  return { ...freshState(1, whole as ScheduleSpec, from), ...more }
}

/** An answer for each instant, which took a second. */
function answersOf(bodies: readonly [atMs: number, body: unknown, hasFailed?: boolean][]): RecordedAnswer[] {
  return bodies.map(([atMs, body, hasFailed = false]) => {
    return { startedAt: from + atMs, endedAt: from + atMs + second, hasFailed, body }
  })
}

const rulesOf = (given: unknown): readonly Rule[] => readRules(given, 'rules', [])

function evaluated(input: {
  schedule?: ScheduleState
  rules: readonly Rule[]
  answers: readonly RecordedAnswer[]
  forMs: number
}): EvaluatedRules {
  const { schedule = stateOf({}), rules, answers, forMs } = input
  const playing = evalRules({ schedule, rules, answers, from, to: from + forMs })
  for (;;) {
    const { done, value } = playing.next()
    if (done === true) return value
  }
}

describe('rules played over recorded answers', () => {
  it('start sooner while the answers ask for it, and as the baseline before and after', () => {
    const answers = answersOf([
      [0, { depth: 1 }],
      [hour, { depth: 300 }],
      [2 * hour, { depth: 1 }],
    ])
    const rules = rulesOf([
      { name: 'surge', when: { depth: { above: 200 } }, then: { every: '1m', ttl: '10m' } },
      { name: 'calm', when: { depth: { below: 10 } }, then: { clear: true } },
    ])
    const result = evaluated({ rules, answers, forMs: 3 * hour })
    // Every 301 s for an hour, every 61 s for the next, and as before from then on.
    expect(result.starts.baseline).toBe(35)
    expect(result.starts.rules).toBeGreaterThanOrEqual(80)
    expect(result.added).toBe(result.starts.rules - result.starts.baseline)
    expect(result).toMatchObject({ saved: 0, breaches: 0, isCapped: false, firstFailureAt: null })
    expect(result.acted.surge).toBeGreaterThan(40)
  })

  it('save starts in quiet hours, and what they add in others is told beside it', () => {
    const quiet = rulesOf([
      { name: 'calm', when: { depth: { below: 10 } }, then: { every: '30m', ttl: '1h' } },
      { name: 'busy', when: { depth: { above: 9 } }, then: { every: '1m', ttl: '30m' } },
    ])
    const answers = answersOf([
      [0, { depth: 1 }],
      [4 * hour, { depth: 50 }],
    ])
    const { saved, added, starts } = evaluated({ rules: quiet, answers, forMs: 6 * hour })
    expect(saved).toBeGreaterThan(30)
    expect(added).toBeGreaterThan(60)
    expect(starts.rules - starts.baseline).toBe(added - saved)
  })

  it('tell how soon the next start follows the first failing answer, against the baseline that backs off', () => {
    const answers = answersOf([
      [0, {}],
      [5 * minute, {}, true],
      [30 * minute, {}],
    ])
    const rules = rulesOf([{ name: 'failing', when: { $failures: { above: 0 } }, then: { every: '1m', ttl: '15m' } }])
    const { firstFailureAt, nextStartMs } = evaluated({ rules, answers, forMs: 2 * hour })
    expect(firstFailureAt).toBe(from + 5 * minute + second)
    expect(nextStartMs).toEqual({ baseline: 10 * minute, rules: minute })
  })

  it('pause, and start once at an instant', () => {
    const answers = answersOf([[0, { rest: true }]])
    const rest = rulesOf([{ name: 'rest', when: { rest: true }, then: { pause: '1h' } }])
    expect(evaluated({ rules: rest, answers, forMs: 5 * hour }).starts.rules).toBeLessThanOrEqual(6)
    const soon = rulesOf([{ name: 'soon', when: { rest: true }, then: { at: 'now' } }])
    const { starts } = evaluated({ rules: soon, answers, forMs: hour })
    expect(starts.rules).toBe(starts.baseline + 1)
  })

  it('stop at a bound of work, and say so', () => {
    const rules = rulesOf([{ name: 'fast', when: { a: 1 }, then: { every: '10s', ttl: '24h' } }])
    const answers = [{ ...(answersOf([[0, { a: 1 }]])[0] as RecordedAnswer), endedAt: from + 1 }]
    const schedule = stateOf({ timing: { everyMs: 10 * second } })
    const result = evaluated({ schedule, rules, answers, forMs: 90 * 24 * hour })
    expect(result).toMatchObject({ isCapped: true, starts: { baseline: 20_000, rules: 20_000 } })
  })

  it('never leave the bounds, whatever the answers say', () => {
    const effects = fc.oneof(
      fc.record({ every: fc.constantFrom('10s', '30s', '7m', '24h'), ttl: fc.constantFrom('1m', '20m', '24h') }),
      fc.record({ at: fc.constantFrom('now', '+1m', '+3h') }),
      fc.record({ pause: fc.constantFrom('1s', '10m', '24h') }),
      fc.constant({ clear: true }),
    )
    const specs = fc.constantFrom<Partial<ScheduleSpec>>(
      { minMs: 2 * minute, maxMs: 20 * minute },
      { timing: { everyMs: 3 * minute, from: 'start' }, minMs: minute },
      { timing: { cron: '*/10 * * * *', zone: 'UTC' }, minMs: 12 * minute },
      { maxMs: 6 * minute },
    )
    const window = { zone: 'UTC', cron: '* 9-10 * * *' } as never
    fc.assert(
      fc.property(
        specs,
        fc.array(effects, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(4), { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        (spec, thens, bodies, hasWindow) => {
          const rules = rulesOf(thens.map((then, index) => ({ name: `r${index}`, when: { n: index }, then })))
          const answers = answersOf(bodies.map((n, index) => [index * 7 * minute, { n }, n === 4]))
          const schedule = stateOf(spec, hasWindow ? { window } : {})
          expect(evaluated({ schedule, rules, answers, forMs: 5 * hour }).breaches).toBe(0)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('count no breach where a fixed rate starts `min` after the start before it, although that one ended later', () => {
    const schedule = stateOf({ timing: { everyMs: 3 * minute, from: 'start' }, minMs: minute })
    const rules = rulesOf([{ name: 'again', when: { n: 1 }, then: { at: '+1m' } }])
    expect(evaluated({ schedule, rules, answers: answersOf([[0, { n: 1 }]]), forMs: 5 * hour })).toMatchObject({
      acted: { again: 293 },
      breaches: 0,
    })
  })
})
