import type { OperationContext } from '../../operations/operation-context.ts'
import type { ScheduleHealth } from '../../store/health-views.ts'
import { scheduleHealth } from '../../store/reads/health/schedule-health.ts'

type Store = OperationContext['store']
type Page = readonly ScheduleHealth[]

interface Figure {
  readonly name: string
  readonly help: string
  /** `null`: the schedule has no such figure, and its line is left out. */
  readonly of: (schedule: Page[number]) => number | null
}

const figures: readonly Figure[] = [
  {
    name: 'belfry_schedule_last_success_timestamp_seconds',
    help: 'When an occurrence of the schedule last completed, in Unix seconds. Absent before the first.',
    of: ({ lastSuccessAt }) => seconds(lastSuccessAt),
  },
  {
    name: 'belfry_schedule_last_end_timestamp_seconds',
    help: 'When an occurrence of the schedule last ended, in any way, in Unix seconds. Absent before the first.',
    of: ({ lastEndAt }) => seconds(lastEndAt),
  },
  {
    name: 'belfry_schedule_consecutive_failures',
    help: 'How many occurrences of the schedule failed in a row.',
    of: ({ failureCount }) => failureCount,
  },
  {
    name: 'belfry_schedule_next_run_timestamp_seconds',
    help: 'When the next occurrence of the schedule is due, in Unix seconds. Absent while it is paused, while it waits for a run to end, and when it has no next occurrence.',
    of: ({ nextDueAt }) => seconds(nextDueAt),
  },
]

const schedulesMax = 10_000
const pageLimit = 500
const cut = 'belfry_schedules_are_cut'

/**
 * The figures of each schedule for Prometheus, written a page at a time: a registry would hold forty thousand series and
 * write them all at once, which would block the worker in this process.
 */
export async function scheduleFigures(store: Store): Promise<string> {
  const lines = figures.map(({ name, help }) => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`])
  let told = 0
  let page: Page = []
  do {
    const after = page.at(-1)?.name
    page = await store.look(scheduleHealth, { limit: pageLimit, ...(after !== undefined && { after }) })
    for (const schedule of page) {
      const labels = `{schedule="${escaped(schedule.name)}"}`
      for (const [index, { name, of }] of figures.entries()) {
        const value = of(schedule)
        if (value !== null) lines[index]?.push(`${name}${labels} ${value}`)
      }
    }
    told += page.length
  } while (page.length === pageLimit && told < schedulesMax)
  const isCut = page.length === pageLimit && (await hasMore(store, page))
  const help = `1: there are over ${schedulesMax} schedules, and only the first by name have figures. 0: all have figures.`
  return [...lines.flat(), `# HELP ${cut} ${help}`, `# TYPE ${cut} gauge`, `${cut} ${isCut ? 1 : 0}`, ''].join('\n')
}

async function hasMore(store: Store, page: Page): Promise<boolean> {
  return (await store.look(scheduleHealth, { limit: 1, after: page.at(-1)?.name ?? '' })).length > 0
}

function seconds(at: number | null): number | null {
  return at === null ? null : at / 1_000
}

/** A label value in the Prometheus text format. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
