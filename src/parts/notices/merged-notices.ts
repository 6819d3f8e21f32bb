import { events } from './notice-events.ts'
import type { ChosenNotice } from './notify-ends.ts'

const questionBytesMax = 4_096

/** Notices of one event for one receiver as one, where the event says so: after a weekend a person is asked once about all that was missed. */
export function mergedNotices(told: readonly ChosenNotice[]): ChosenNotice[] {
  const groups = new Map<unknown, ChosenNotice[]>()
  for (const each of told) {
    const { event, ns } = each.of
    const isMerged = event !== 'held' && events[event].together !== undefined
    const key = isMerged ? `${ns} ${event} ${JSON.stringify(each.target)}` : each
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups.values()].map((group) => (group.length === 1 ? (group[0] as ChosenNotice) : merged(group)))
}

function merged(group: readonly ChosenNotice[]): ChosenNotice {
  const [{ of, target }] = group as [ChosenNotice]
  const { together = { what: '', happened: '' } } = of.event === 'held' ? {} : events[of.event]
  const suppressed = group.reduce((sum, each) => sum + each.suppressed, 0)
  const subject = {
    schedule: null,
    runId: null,
    about: `${group.length} ${together.what}`,
    happened: together.happened,
  }
  const question = questionOf(
    group.map(({ of: { question, schedule, reason } }) => question ?? `${schedule}: ${reason}`),
  )
  return { of: { ...of, ...subject, question }, target, suppressed }
}

/** As many whole paragraphs as fit: a paragraph that is cut would lose the end of its fence. */
function questionOf(paragraphs: readonly string[]): string {
  let bytes = 0
  const fitting = paragraphs.filter((text, index) => {
    bytes += Buffer.byteLength(text) + 2
    return index === 0 || bytes <= questionBytesMax
  })
  const left = paragraphs.length - fitting.length
  return [...fitting, ...(left === 0 ? [] : [`And ${left} more.`])].join('\n\n')
}
