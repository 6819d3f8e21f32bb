import { describe, expect, it } from 'vitest'
import { unfence } from '../../../src/core/untrusted-text.ts'
import { lookPrompt } from '../../../src/parts/planner/looks/look-prompt.ts'
import { LookSession } from '../../../src/parts/planner/looks/look-session.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { setHint } from '../../../src/store/schedules/set-hint.ts'
import { actor, hour, minute, onEachStore, startAt } from '../../store/schedule-stage.ts'
import { begin, expectBounds, session } from './hostile-stage.ts'
import { injections } from './injections.ts'

/** A number from a seed: the same hostile outputs in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const strange: readonly unknown[] = [
  ...[
    0,
    1,
    -1,
    9_999,
    10_000,
    1e9,
    1e308,
    Number.NaN,
    null,
    true,
    '',
    '1',
    '30s',
    [],
    {},
    'null',
    '\0',
    'x'.repeat(9_000),
  ],
  ...[
    '1970-01-01T00:00:00Z',
    '2099-01-01T00:00:00Z',
    '2026-01-05T09:00:01Z',
    '2026-01-05T09:30:00+01:00',
    '2026-02-30T00:00:00Z',
    'tomorrow',
  ],
  ...[30_000, 60_000, 86_400_000, 900_000, 0.5, { secret: 'KEY' }],
]
const names = [
  'propose_interval',
  'propose_next_time',
  'pause_until',
  'clear_hints',
  'get_response_history',
  'submit_analysis',
  'format_disk',
  '__proto__',
]
const fields = [
  'intervalMs',
  'ttlMinutes',
  'nextRunAtIso',
  'untilIso',
  'reason',
  'limit',
  'offset',
  'reasoning',
  'next_analysis_in_ms',
  'author',
  'schedule',
]

/** A call that no well-behaved model would make, or one that such a model might make. */
function hostileCall(next: () => number, now: number): readonly [tool: string, args: unknown] {
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(next() * values.length)] as Value
  if (next() < 0.05) return [pick(names), pick(strange)]
  const tool = pick(names.slice(0, 4))
  const plausible: Record<string, unknown> = {
    propose_interval: {
      intervalMs: Math.floor(next() * 10 ** (1 + next() * 8)) + 1,
      ttlMinutes: Math.ceil(next() * 1_440),
    },
    propose_next_time: { nextRunAtIso: new Date(now + (next() - 0.2) * 30 * hour).toISOString(), ttlMinutes: 5 },
    pause_until: { untilIso: next() < 0.3 ? null : new Date(now + next() * 60 * hour).toISOString() },
    clear_hints: {},
  }
  const args = { ...(plausible[tool] as object), ...(next() < 0.3 && { [pick(fields)]: pick(strange) }) }
  return [tool, args]
}

const outputs = Number(process.env.BELFRY_HOSTILE_OUTPUTS ?? 2_000)

onEachStore('a hostile planner', (stage, kind) => {
  const calls = kind === 'memory' ? outputs : Math.min(outputs, 60)

  it(`makes ${calls} hostile calls, and no instant leaves the bounds`, async () => {
    await begin(stage())
    const next = random(kind === 'memory' ? 7 : 11)
    for (let made = 0; made < calls; ) {
      const look = await session(stage())
      for (let each = 0; each < 10; each += 1, made += 1) {
        const [tool, args] = hostileCall(next, stage().clock.now)
        await look.call(tool, args)
        if (look.submitted !== null) break
      }
      await expectBounds(stage())
      stage().pass(Math.floor(next() * 10 * minute))
      await stage().fire()
      const [lease] = await stage().leaseHttp()
      if (lease !== undefined) await stage().end(lease)
      await expectBounds(stage())
    }
  })

  it('lifts no pause of a person, touches no hint of a person, and is refused after what a person did', async () => {
    await begin(stage())
    const before = await session(stage())
    const hint = {
      kind: 'interval',
      ms: 10 * minute,
      expiresAt: startAt + 20 * hour,
      reason: 'mine',
      author: 'ann',
      actor,
    } as const
    await stage().store.do(setHint, 'depth', hint as never)
    await stage().store.do(pauseSchedule, 'depth', { until: startAt + 20 * hour, reason: 'mine', actor })
    const next = random(3)
    for (let each = 0; each < 30; each += 1) await before.call(...hostileCall(next, stage().clock.now))
    expect(before.warnings.has('superseded')).toBe(true)
    for (let round = 0; round < (kind === 'memory' ? 20 : 3); round += 1) {
      const after = await session(stage())
      for (let each = 0; each < 10; each += 1) await after.call(...hostileCall(next, stage().clock.now))
    }
    const { paused, hints } = await stage().view('depth')
    expect(paused).toMatchObject({ until: startAt + 20 * hour })
    expect(hints.interval).toMatchObject({ ms: 10 * minute, expiresAt: startAt + 20 * hour })
  })
})

describe(`${injections.length} orders in answers`, () => {
  const facts = {
    now: '2026-01-05T09:00:00.000Z',
    schedule: 'depth',
    version: 1,
    epoch: 0,
    description: 'Watch it.',
    group: null,
    siblings: [],
    baseline: 'every 5m',
    bounds: { min: '30s', max: '20m', window: null },
    zone: null,
    autonomy: 'act',
    paused: null,
    hints: [],
    failures: 0,
    multiplier: 1,
    nextRunAt: null,
    lastHints: [],
    lastLook: null,
    siblingResponses: [],
  } as const
  const window = { runs: 1, failures: 0, errors: {} }
  const health = { '1h': window, '4h': window, '24h': window }

  it('reach a model only inside a fence that they cannot close', async () => {
    expect(injections.length).toBeGreaterThanOrEqual(300)
    for (const { body } of injections) {
      const responseBody = typeof body === 'string' ? body : JSON.stringify(body)
      const response = {
        responseBody,
        timestamp: '2026-01-05T09:00:00.000Z',
        status: 'success',
        durationMs: 1,
        httpStatus: 200,
      } as const
      const known = {
        ...facts,
        health,
        responses: [response],
        siblingResponses: [{ ...response, endpointId: 's-1', endpointName: 'other' }],
      }
      const look = new LookSession(known, async () => ({ answer: 'refused', code: 'not-allowed', why: 'no' }))
      expect(lookPrompt(known, 'rules').user).not.toContain(responseBody)
      for (const [tool, path] of [
        ['get_latest_response', null],
        ['get_response_history', 'responses'],
        ['get_sibling_latest_responses', 'siblings'],
      ] as const) {
        const { result } = (await look.call(tool, {})) as { result: Record<string, unknown> }
        const told = path === null ? result : (result[path] as Record<string, unknown>[])[0]
        expect(unfence(String(told?.responseBody))).toBe(responseBody)
      }
    }
  })
})
