// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import type { Rule } from '../../src/core/rule-form.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { Timing } from '../../src/core/timing/timing.ts'
import type { BackfillRequest } from '../../src/parts/backfill/backfill-schedule.ts'
import type { NewHint } from '../../src/store/port.ts'
import { nominalAfter, nominalOf } from '../invariants/nominal.ts'
import type { ScheduleRecord } from '../invariants/schedules.ts'
import { handlerNames } from '../worker.ts'
import type { World } from '../world.ts'
import { queueNames } from './queues.ts'

export const scheduleNames = ['dawn', 'noon', 'dusk', 'night', 'tide', 'moon'] as const

/** Calendars whose instants are an arithmetic progression, in every zone whose offset is whole hours. */
const crons = [
  '*/1 * * * * *',
  '*/2 * * * * *',
  '*/5 * * * * *',
  '*/20 * * * * *',
  '*/1 * * * *',
  '*/5 * * * *',
  '0 * * * *',
]
const zones = ['UTC', 'Europe/Paris', 'America/New_York']

function drawTiming({ random, clock }: World): Timing {
  switch (random.weighted({ cron: 5, delay: 3, rate: 2, once: 2, none: 0.5 })) {
    case 'cron':
      return { cron: random.pick(crons), zone: random.pick(zones) }
    case 'delay':
      return { everyMs: random.pick([1_000, 2_000, 7_000]), ...(random.chance(0.5) && { from: 'end' as const }) }
    case 'rate':
      return { everyMs: random.pick([1_000, 2_500, 10_000]), from: 'start' }
    case 'once':
      return { at: clock.now() + random.between(0, 8_000) }
    case 'none':
      return {}
  }
}

export function drawSpec(world: World, name: string): ScheduleSpec {
  const { random, clock } = world
  const timing = drawTiming(world)
  const timeoutMs = random.chance(0.2) ? random.between(50, 3_000) : null
  const isOnce = timing.at !== undefined
  const missed = random.pick([undefined, 'skip', 'once', 'all'] as const)
  const overlap = random.pick(missed === 'all' ? ([undefined, 'queue', 'allow'] as const) : overlaps)
  const isQueued = overlap === 'queue' || (overlap === undefined && missed === 'all')
  return {
    name,
    timing,
    target: { handler: random.pick(handlerNames) },
    queue: random.pick(queueNames),
    ...(missed !== undefined && { missed }),
    ...(overlap !== undefined && { overlap }),
    ...(isQueued && random.chance(0.5) && { queueMax: random.between(1, 3) }),
    ...(timing.everyMs !== undefined && random.chance(0.3) && { startNow: true }),
    ...(!isOnce && random.chance(0.2) && { maxRuns: random.between(1, 5) }),
    ...(!isOnce && random.chance(0.1) && { minMs: random.pick([1_500, 4_000]) }),
    ...(timing.everyMs !== undefined && random.chance(0.1) && { maxMs: random.pick([5_000, 20_000]) }),
    ...(!isOnce && random.chance(0.1) && { startAt: clock.now() + random.between(0, 5_000) }),
    ...(!isOnce && random.chance(0.1) && { endAt: clock.now() + random.between(3_700_000, 8_000_000) }),
    ...(random.chance(0.2) && { pauseAfterFailures: random.between(1, 3) }),
    ...(random.chance(0.1) && { maxLatenessMs: random.pick([0, 2_000, 600_000]) }),
    ...(random.chance(0.2) && { concurrencyKey: random.pick(['one', 'two']) }),
    ...(random.chance(0.2) && { repeatable: false }),
    ...(random.chance(0.2) && { onExhausted: 'park' }),
    ...(timeoutMs !== null && { options: { timeoutMs }, payload: { timeoutMs } }),
    // Nothing is drawn for it, so that the histories of earlier seeds stay as they were.
    ...(isOnce && timing.at % 2 === 0 && { asksWhenMissed: true }),
    ...(!isOnce && clock.now() % 3 === 0 && { window: windows[clock.now() % 2] }),
    ...(clock.now() % 4 !== 0 && { autonomy: 'act' as const }),
    ...(clock.now() % 2 === 1 && { rules }),
    ...(random.chance(0.05) && {
      spread: { recurringFraction: 0.1, recurringCapMs: 900_000, oneShotMaxMs: 90_000, oneShotMinuteModulo: 30 },
    }),
  }
}

/** Rules of every effect, on what each end of a run tells. */
const rules: readonly Rule[] = [
  { name: 'slow', when: { $durationMs: { above: 2_000 } }, then: { pauseMs: 3_000 } },
  { name: 'failing', when: { $failures: { above: 0 } }, then: { everyMs: 1_000, ttlMs: 60_000 } },
  { name: 'again', when: { $durationMs: { above: 200 } }, then: { at: 'now', ttlMs: 60_000 } },
  { name: 'well', when: { $failures: { below: 1 } }, runs: 2, then: { clear: true } },
]

/** The minutes that are open to hints of rules, planners and agents, where a schedule has a window: the even ones, or the odd ones. */
const windows = ['*/2 * * * *', '1-59/2 * * * *'] as const

const overlaps = [undefined, 'skip', 'queue', 'allow', 'cancel'] as const

export function drawHint(world: World, name: string): NewHint {
  const { random, clock } = world
  const now = clock.now()
  const soonest = now + random.between(500, random.pick([3_000, 20_000]))
  // People and models say "until ten": half of the hints end at the very instant of an occurrence.
  const expiresAt = random.chance(0.5) ? (nominalFrom(world, name, soonest) ?? soonest) : soonest
  const by = { reason: 'it seems so', author: 'somebody' }
  if (random.chance(0.5)) return { kind: 'interval', ms: random.between(1_000, 5_000), expiresAt, ...by }
  return { kind: 'oneshot', at: random.between(now - 500, expiresAt - 1), expiresAt, ...by }
}

/** The schedules that are not deleted. */
export function schedulesThere({ books }: World): ScheduleRecord[] {
  return [...books.schedules.records.values()].filter(({ row }) => row.deleted_at === null)
}

/** The first nominal instant of a schedule at or after another. */
function nominalFrom(world: World, name: string, instant: number): number | null {
  const known = schedulesThere(world).find(({ spec }) => spec.name === name)
  const nominal = known === undefined ? null : nominalOf(known.spec, known.row.grid_anchor_at)
  return nominal === null ? null : nominalAfter(nominal, instant - 1)
}

export function drawBackfill({ random, clock }: World): BackfillRequest {
  const to = clock.now() - random.between(0, 2_000)
  return { from: to - random.between(500, 6_000), to, ...(random.chance(0.3) && { again: true }) }
}
