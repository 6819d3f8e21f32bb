import { retriesInWords } from '../../../operations/explain/retries.ts'
import type { RunExplained } from '../../../operations/run/explain-output.ts'
import type { Waiting } from '../../../operations/run/standing.ts'
import type { TimelineEvent } from '../../../operations/run/timeline.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { columns } from '../columns.ts'
import { type Sheet, spellOn } from '../sheet.ts'
import { howLong, local, relative } from '../when.ts'
import { againOf, headOf, on, part, reasonsOf, whatAndWhen } from './explained.ts'

/** The answer first: where the run stands and what gets it on. Then who is in its way, why it was planned, its life. */
export function showRunExplained(answer: RunExplained, sheet: Sheet): string {
  const own = { ...sheet, zone: answer.schedule?.zone ?? sheet.zone }
  return [
    headOf(answer.run, answer, own),
    ...part('In its way', holderLines(answer.waiting, own), own),
    ...part('Why it was planned', plannedLines(answer, own), own),
    ...part('What happened', timelineLines(answer, own), own),
    ...part('Retries', retriesLines(answer), own),
    ...part('Next', nextLines(answer, own), own),
    ...part(
      'Note',
      answer.notes.map((note) => plainText(spellOn(own, note))),
      own,
    ),
  ].join('\n')
}

function holderLines(waiting: Waiting | null, { now, paint }: Sheet): string[] {
  if (waiting === null || waiting.holders.length === 0) return []
  const rows = waiting.holders.map(({ run, worker, isDead, since }) => [
    paint.bold(run),
    worker === null
      ? 'before it in line'
      : isDead
        ? `held by ${plainText(worker)}, which died`
        : `at work at ${plainText(worker)}`,
    since === null ? '' : `for ${howLong(Math.max(0, now - since))}`,
  ])
  const more = waiting.holdersCount - waiting.holders.length
  return [columns(null, rows), ...(more > 0 ? [`and ${more} more`] : [])]
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
  'cancel-requested': 'asked to end',
  parked: 'parked',
  ended: 'ended',
  'waits-until': 'may go on',
  'lease-expires': 'lease expires',
}

function timelineLines({ timeline, lateness }: RunExplained, sheet: Sheet): string[] {
  const { now, paint } = sheet
  const rows = timeline.map(({ at, what, detail }) => [
    paint.dim(local(at, sheet)),
    relative(at, now),
    words[what],
    plainText(detail),
  ])
  const ms = lateness?.startedMs ?? 0
  const late = lateness?.isGrowing === true ? 'it is' : 'it started'
  return [columns(null, rows), ...(ms > 0 ? [paint.yellow(`${late} ${howLong(ms)} late`)] : [])]
}

/** A run that has ended well is not tried again, whatever holds. */
function retriesLines({ status, retries, budget }: RunExplained): string[] {
  if (retries === null || status === 'completed' || status === 'cancelled' || status === 'skipped') return []
  return [`${budget?.used ?? 0} used of ${retriesInWords(retries)}`]
}

/** What the lines at the top have said is not said again. */
function nextLines({ next, schedule, unblock }: RunExplained, sheet: Sheet): string[] {
  const isSaid = unblock.some(({ what, at }) => what === next.what || (at !== null && at === next.at))
  const lines = isSaid ? [] : [whatAndWhen(next.what, next.at, sheet)]
  const after = schedule?.after ?? null
  if (after === null) return lines
  const run = after.runId === null ? '' : ` (${after.runId})`
  return [...lines, `After it, its schedule had ${on(after.from, sheet)}: ${plainText(after.outcome)}${run}`]
}
