import { beforeClosings, type Hold, type HoldFiring, holdSubject } from './hold.ts'

/** Why work may not start, and what ends it. Parts add more. */
export interface HoldReason {
  readonly code: string
  /** What `fireDue` does under such a hold. */
  readonly firing: HoldFiring
  /** One sentence about all such holds. */
  readonly says: string
  /** What ends such holds early. */
  readonly unblocks: string
  /** Why an occurrence ended under such a hold, as a clause. */
  readonly skipped?: string
  /** What explain says about held work. Default: the hold by its id, author and note. */
  readonly sentence?: (hold: Hold) => string
  /** Whether a person may run a schedule in spite of such a hold, with `--force`. */
  readonly isForced?: true
  /** What ends this hold by itself. Default: its end, where it has one. */
  readonly ends?: string
  /** How a person ends this hold, and the words of the command. Default: lifts it by its id. */
  readonly lift?: (hold: Hold) => { readonly what: string; readonly words: readonly string[] }
}

export const kernelHoldReasons = {
  stopped: {
    code: 'stopped',
    firing: 'nothing',
    says: 'A stop is on the namespace, a queue, a kind or an account: nothing there is fired or leased.',
    unblocks:
      'Start it again with `belfry go`; the `missed` rules then decide about occurrences that came due meanwhile.',
    sentence: (hold) =>
      `${hold.scope === 'namespace' ? 'Everything' : holdSubject(hold)} is stopped by ${hold.by}${because(hold.note)}.`,
    lift: (hold) =>
      hold.scope === 'namespace'
        ? { what: 'Start everything again.', words: ['go'] }
        : { what: 'Start it again.', words: ['go', '--on', holdSubject(hold)] },
  },
  paused: {
    code: 'paused',
    firing: 'waits',
    says: 'The queue is paused: its runs are created, and wait.',
    unblocks: 'Resume the queue.',
    sentence: ({ subject, note }) => `Its queue ${subject} is paused${because(note)}.`,
    lift: ({ subject }) => ({ what: 'Resume the queue.', words: ['queue', 'resume', subject] }),
  },
  calendar: {
    code: 'calendar',
    firing: 'waits',
    says: 'A calendar is closed: runs wait until it opens; occurrences of schedules are planned for open hours.',
    unblocks:
      'The calendar opens by itself. Or change its hours: `belfry calendar put`. Or run the schedule now: `belfry schedule run NAME --force`.',
    sentence: calendarSentence,
    lift: calendarLift,
    isForced: true,
  },
  hold: {
    code: 'hold',
    firing: 'waits',
    says: 'A person put a hold: runs are created, and wait.',
    unblocks: 'Lift the hold, or wait for its end.',
  },
} as const satisfies Readonly<Record<string, HoldReason>>

/**
 * The note of a hold by calendars names the calendars that keep the work from starting: `office`, `!night` for a calendar that must be
 * closed, `?gone` for one that does not exist.
 */
function calendarSentence({ scope, subject, note, from, until }: Hold): string {
  if (from === beforeClosings)
    return `The clock was set back, and the hours of calendar ${note ?? subject} were computed for later instants; a worker computes them again within a minute.`
  const whose = scope === 'queue' ? ` of queue ${subject}` : scope === 'namespace' ? ' of the namespace' : ''
  const each = (note ?? subject).split(', ').map((use) => {
    if (use.startsWith('?')) return `${bare(use)}${whose} does not exist`
    return use.startsWith('!') ? `${bare(use)}${whose} is open, and must be closed` : `${use}${whose} is closed`
  })
  const late = until === null && !note?.startsWith('?') ? '; no worker has computed yet when that ends' : ''
  return `Calendar ${each.join(', and ')}${late}.`
}

function calendarLift({ note }: Hold) {
  const [use = ''] = (note ?? '').split(', ')
  const name = bare(use)
  if (use.startsWith('!')) return { what: 'Or change its hours.', words: ['calendar', 'show', name] }
  const what = `Or open it now; \`belfry calendar revert ${name}\` takes that back.`
  return { what, words: ['calendar', 'put', name, '--open', 'mon-sun 00:00-24:00'] }
}

function bare(use: string): string {
  return use.replace(/^[!?]/, '')
}

/** What explain says about work under a hold. Instants are shown beside it. */
export function holdSentence(hold: Hold, reasons: Readonly<Record<string, HoldReason>>): string {
  const said = reasons[hold.reason]?.sentence?.(hold)
  return (
    said ?? `Hold ${hold.id} on ${holdSubject(hold)}, put by ${hold.by}, keeps work from starting${because(hold.note)}.`
  )
}

/** How to end a hold early. */
export function holdLift(hold: Hold, reasons: Readonly<Record<string, HoldReason>>) {
  return reasons[hold.reason]?.lift?.(hold) ?? { what: 'Lift the hold.', words: ['hold', 'lift', hold.id] }
}

function because(note: string | null): string {
  return note === null ? '' : `: ${note.replace(/[.\s]+$/, '')}`
}
