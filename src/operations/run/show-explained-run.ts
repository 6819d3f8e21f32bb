import { retriesInWords } from '../explain/explain-retries.ts'
import { againOf, headOf, on, part, reasonsOf, whatAndWhen } from '../explain/show-explained.ts'
import { plainText } from '../schedule/plain-text.ts'
import type { Column, Sheet } from '../show.ts'
import type { RunExplained } from './run-explained.ts'
import type { Waiting } from './run-situation.ts'
import type { TimelineEvent } from './timeline.ts'

/** The answer first: the state of the run and what unblocks it. Then what blocks it, why it was planned, its timeline. */
export function showRunExplained(answer: RunExplained, sheet: Sheet): string {
  const own = sheet.inZone(answer.schedule?.zone)
  return [
    headOf(answer.run, answer, own),
    ...part('Blocked by', holderLines(answer.waiting, own), own),
    ...part('Why it was planned', plannedLines(answer, own), own),
    ...part('What happened', timelineLines(answer, own), own),
    ...part('Retries', retriesLines(answer), own),
    ...part('Next', nextLines(answer, own), own),
    ...part('Note', answer.notes.map(own.spelled), own),
  ].join('\n')
}

type Holder = Waiting['holders'][number]

const holders: readonly Column<Holder>[] = [
  ['', 'run', 'name'],
  [
    '',
    ({ worker, isDead }) => {
      if (worker === null) return 'before it in line'
      return isDead ? `held by ${plainText(worker)}, which died` : `at work on ${plainText(worker)}`
    },
  ],
  ['', ({ since }, { now, howLong }) => (since === null ? null : `for ${howLong(Math.max(0, now - since))}`)],
]

function holderLines(waiting: Waiting | null, sheet: Sheet): string[] {
  if (waiting === null || waiting.holders.length === 0) return []
  const more = waiting.holdersCount - waiting.holders.length
  return [sheet.table(holders, waiting.holders), ...(more > 0 ? [`and ${more} more`] : [])]
}

function plannedLines({ planned, schedule }: RunExplained, sheet: Sheet): string[] {
  const whose = schedule === null ? '' : `Of schedule ${plainText(schedule.name)}. `
  return [`${whose}${plainText(planned.sentence)}`, ...reasonsOf(planned, sheet), ...againOf(planned.rederived, sheet)]
}

const words: { readonly [What in TimelineEvent['what']]: string } = {
  decided: 'decided',
  nominal: 'nominal instant',
  due: 'due',
  fired: 'fired',
  enqueued: 'enqueued',
  started: 'started',
  'attempt-ended': 'ended',
  'cancel-requested': 'cancel requested',
  parked: 'parked',
  ended: 'ended',
  'waits-until': 'may start',
  'lease-expires': 'lease expires',
}

const events: readonly Column<TimelineEvent>[] = [
  ['', ({ at }, { paint, local }) => paint.dim(local(at))],
  ['', 'at', 'relative'],
  ['', ({ what }) => words[what]],
  ['', 'detail', 'text'],
]

function timelineLines({ timeline, lateness }: RunExplained, sheet: Sheet): string[] {
  const ms = lateness?.startedMs ?? 0
  const late = lateness?.isGrowing === true ? 'it is' : 'it started'
  const note = ms > 0 ? [sheet.paint.yellow(`${late} ${sheet.howLong(ms)} late`)] : []
  return [sheet.table(events, timeline), ...note]
}

/** A completed run is not tried again, whatever its settings. */
function retriesLines({ status, retries, budget }: RunExplained): string[] {
  if (retries === null || status === 'completed' || status === 'cancelled' || status === 'skipped') return []
  return [`${budget?.used ?? 0} used of ${retriesInWords(retries)}`]
}

/** Leaves out what the first lines already say. */
function nextLines({ next, schedule, unblock }: RunExplained, sheet: Sheet): string[] {
  const isSaid = unblock.some(({ what, at }) => what === next.what || (at !== null && at === next.at))
  const lines = isSaid ? [] : [whatAndWhen(next.what, next.at, sheet)]
  const after = schedule?.after ?? null
  if (after === null) return lines
  const run = after.runId === null ? '' : ` (${after.runId})`
  return [...lines, `The next occurrence of its schedule, ${on(after.from, sheet)}: ${plainText(after.outcome)}${run}`]
}
