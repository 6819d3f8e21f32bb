import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, type Row, type Step } from '../../../store/statement.ts'

/** How the runs of a schedule ended within some hours. */
export interface HealthWindow {
  readonly runs: number
  readonly failures: number
  /** There are more runs than these; they were not read. */
  readonly atLeast?: true
  /** How often each HTTP status came. Absent in looks of older versions. */
  readonly statuses?: Readonly<Record<string, number>>
  /** How many runs failed, by the class of the failure. Its text may repeat the answer, so it is not here. */
  readonly errors: Readonly<Record<string, number>>
}

export type Health = Readonly<Record<'1h' | '4h' | '24h', HealthWindow>>

const hour = 3_600_000
const rowsMax = 5_000
/** The status is the first field of an HTTP result, so that no body has to be read. */
const headLength = 24
/** Each end is found by its run, and not in an index of all ends; see `findEnd` in `retry-run.ts`. */
const findEnds = both(
  'planner find ends',
  ({ join }) => `select a.ended_at, a.ends, a.reason, substr(r.body, 1, ${headLength}) as head from belfry.ledger l
    ${join.inner('attempt a', "a.run_id = l.run_id and coalesce(a.ends, '') <> ''")}
    left join belfry.result r on r.run_id = l.run_id
    where l.schedule_id = $1 and l.from_at >= $2 and a.ends in ('completed', 'failed') order by l.from_at desc limit $3`,
)

/** How the runs of a schedule ended within 1 h, 4 h and 24 h. */
export function* healthOf({ id, spec }: ScheduleRow, now: number): Step<Health> {
  const rows = yield* all(findEnds, id, now - 24 * hour, rowsMax + 1)
  const isHttp = spec.target?.http !== undefined
  const window = (hours: number): HealthWindow => {
    const own = rows.slice(0, rowsMax).filter((row) => (row.ended_at as number) >= now - hours * hour)
    const failed = own.filter((row) => row.ends === 'failed')
    return {
      runs: own.length,
      failures: failed.length,
      ...(rows.length > rowsMax && { atLeast: true as const }),
      statuses: isHttp ? counted(own.flatMap((row) => statusIn(row) ?? [])) : {},
      errors: counted(failed.map(({ reason }) => errorClass(reason))),
    }
  }
  return { '1h': window(1), '4h': window(4), '24h': window(24) }
}

function counted(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function statusIn({ head, reason }: Row): string | undefined {
  return /^\{"status":\s*(\d{3})\b/.exec(String(head ?? ''))?.[1] ?? /^status (\d{3})\b/.exec(String(reason ?? ''))?.[1]
}

const classes: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['timeout', /^timeout\b/],
  ['unexpected', /^expect\./],
  ['stopped', /^(stopped|forced-stop)\b/],
  ['lost', /^lost\b/],
  ['rate-limited', /^rate-limited\b/],
  ['exit', /^exit/],
  [
    'unreachable',
    /\b(ECONN\w*|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|refused|unreachable|resolve[ds]?|connect\w*)\b/,
  ],
]

/** The class of a failure. The text of a failure may repeat what an endpoint answered, and its class does not. */
export function errorClass(reason: unknown): string {
  const text = String(reason ?? '')
  const status = /^status (\d{3})\b/.exec(text)?.[1]
  if (status !== undefined) return `status ${status}`
  return classes.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other'
}
