import fc from 'fast-check'
import type { ScheduleInput } from '../../../src/operations/schedule/schedule-input.ts'

const minuteMs = 60_000

/** A schedule's definition, with instants as ms from its creation. */
export interface Definition {
  readonly fields: Partial<ScheduleInput>
  readonly atMs?: number | undefined
  readonly startMs?: number | undefined
  readonly endMs?: number | undefined
}

/** Something that a person or a planner does to a schedule, with instants as ms from then. */
export type Deed =
  | { readonly does: 'nothing' | 'resume' | 'clear' }
  | { readonly does: 'interval'; readonly every: string; readonly ttl: string }
  | { readonly does: 'oneshot'; readonly inMs: number; readonly ttl: string }
  | { readonly does: 'pause'; readonly forMs: number | null }
  | { readonly does: 'edit'; readonly fields: Partial<ScheduleInput> }

/** What becomes of one schedule: it is steered twice while a worker is there, and once when none has been for a while. */
export interface Case {
  readonly definition: Definition
  readonly deeds: readonly [Deed, Deed, Deed]
}

/** What happens around many schedules: how long a worker is there, twice, and how long none is before somebody asks. */
export interface Life {
  readonly startAt: number
  readonly servedMs: readonly [number, number]
  readonly aloneMs: number
  readonly cases: readonly Case[]
}

const upTo = (minutes: number) => fc.integer({ min: 1, max: minutes }).map((count) => count * minuteMs)
/** Also off the full minute, where nothing else is. */
const anyUpTo = (minutes: number) => fc.oneof(upTo(minutes), fc.integer({ min: 1, max: minutes * minuteMs }))
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const crons = [
  '*/10 * * * *',
  '*/30 * * * *',
  '5 * * * *',
  '0 */3 * * *',
  '15 1,2,3 * * *',
  '*/7 0-5 * * *',
  '30 2 * * *',
]
const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe']
const timing: fc.Arbitrary<Definition> = fc.oneof(
  fc.record({ cron: fc.constantFrom(...crons), zone: fc.constantFrom(...zones) }).map((fields) => ({ fields })),
  fc
    .record({
      every: fc.constantFrom('50s', '7m', '17m', '1h', '3h'),
      from: fc.constantFrom('end' as const, 'start' as const),
      startNow: fc.boolean(),
    })
    .map((fields) => ({ fields })),
  anyUpTo(600).map((atMs) => ({ fields: {}, atMs })),
)

const rules = fc.record({
  min: rarely(fc.constantFrom('10m', '40m', '2h')),
  max: rarely(fc.constantFrom('2h', '4h', '12h')),
  maxRuns: rarely(fc.constantFrom(1, 3, 8)),
  missed: rarely(fc.constantFrom('skip' as const, 'once' as const, 'all' as const)),
  maxLateness: rarely(fc.constantFrom('1m', '5m', '40m', '6h')),
  overlap: rarely(fc.constantFrom('skip' as const, 'queue' as const, 'allow' as const)),
  queueMax: rarely(fc.constantFrom(1, 2)),
})

const definition: fc.Arbitrary<Definition> = fc
  .record({ timing, rules, startMs: rarely(anyUpTo(300)), endMs: rarely(anyUpTo(1_800)) })
  .map(({ timing: { fields, atMs }, rules: all, startMs, endMs }) => {
    // What means nothing beside the rest is refused, so it is left out.
    const { min, max, maxRuns, overlap, queueMax, ...late } = all
    const isAll = late.missed === 'all'
    const lane = overlap === 'queue' || (isAll && overlap === undefined) ? { overlap, queueMax } : { overlap }
    const clash = isAll && overlap === 'skip' ? { overlap: undefined } : lane
    if (atMs !== undefined) return { fields: given({ ...fields, ...late, ...clash }), atMs }
    const bounds = fields.cron === undefined ? { min, max } : { min }
    const length = { startMs, endMs: endMs === undefined ? undefined : endMs + (startMs ?? 0) }
    return { fields: given({ ...fields, ...late, ...clash, ...bounds, maxRuns }), ...length }
  })

function given(fields: Partial<Record<keyof ScheduleInput, unknown>>): Partial<ScheduleInput> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const nothing = fc.constant<Deed>({ does: 'nothing' })
const interval = fc.record({
  does: fc.constant('interval' as const),
  every: fc.constantFrom('5m', '25m', '60m', '2h'),
  ttl: fc.constantFrom('10m', '50m', '60m', '4h'),
})
const oneshot = fc.record({
  does: fc.constant('oneshot' as const),
  inMs: anyUpTo(120),
  ttl: fc.constantFrom('30m', '3h'),
})
const pause = fc.record({
  does: fc.constant('pause' as const),
  forMs: fc.option(anyUpTo(360), { freq: 8 }),
})
const quietDeed: fc.Arbitrary<Deed> = fc.oneof(nothing, interval, oneshot, pause)
const edited = fc.constantFrom<Partial<ScheduleInput>>({ every: '13m' }, { every: '2h' }, { cron: '20 * * * *' })
const deed: fc.Arbitrary<Deed> = fc.oneof(
  quietDeed,
  quietDeed,
  fc.constantFrom<Deed>({ does: 'resume' }, { does: 'clear' }),
  edited.map((fields): Deed => ({ does: 'edit', fields })),
)

/** Days on which clocks change somewhere, and one on which none do. */
const days = ['2026-10-24', '2026-03-28', '2026-11-01', '2026-03-08', '2026-06-01']

export function life(casesCount: number): fc.Arbitrary<Life> {
  const one = fc.record({ definition, deeds: fc.tuple(deed, deed, quietDeed) })
  return fc.record({
    startAt: fc.tuple(fc.constantFrom(...days), anyUpTo(1_440)).map(([day, ms]) => Date.parse(`${day}T00:00Z`) + ms),
    servedMs: fc.tuple(anyUpTo(20), anyUpTo(90)),
    aloneMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 70_000 }), anyUpTo(200), anyUpTo(2_000)),
    cases: fc.array(one, { minLength: casesCount, maxLength: casesCount }),
  })
}
