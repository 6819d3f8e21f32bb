import { beforeClosings, type Hold, type HoldFiring, holdSubject } from './hold.ts'

/** Why work may not start, and what ends it. Parts add more. */
export interface HoldReason {
  readonly code: string
  /** What `fire` does under it. */
  readonly firing: HoldFiring
  /** One sentence about all such holds. */
  readonly says: string
  /** What ends them early. */
  readonly unblocks: string
  /** What explain says about held work. Default: the hold by its id, author and note. */
  readonly sentence?: (hold: Hold) => string
  /** Whether a person may run a schedule now in spite of it, with `--force`. */
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
    says: 'Everything is stopped, or a queue, kind or account: nothing of it is fired or leased.',
    unblocks: 'Let it go on with `belfry go`; the `missed` rules then decide about what was due meanwhile.',
    sentence: (hold) =>
      `${hold.scope === 'namespace' ? 'Everything' : holdSubject(hold)} is stopped by ${hold.by}${because(hold.note)}.`,
    lift: (hold) =>
      hold.scope === 'namespace'
        ? { what: 'Start everything again.', words: ['go'] }
        : { what: 'Let it go on.', words: ['go', '--on', holdSubject(hold)] },
  },
  paused: {
    code: 'paused',
    firing: 'waits',
    says: 'The queue is paused: its runs are made, and wait.',
    unblocks: 'Resume the queue.',
    sentence: ({ subject, note }) => `Its queue ${subject} is paused${because(note)}.`,
    lift: ({ subject }) => ({ what: 'Resume the queue.', words: ['queue', 'resume', subject] }),
  },
  calendar: {
    code: 'calendar',
    firing: 'waits',
    says: 'A calendar is closed: runs wait until it opens; occurrences of schedules are planned for open hours.',
    unblocks:
      'It opens by itself. Or give it other hours: `belfry calendar put`; or `belfry schedule run NAME --force`.',
    sentence: calendarSentence,
    lift: calendarLift,
    isForced: true,
  },
  hold: {
    code: 'hold',
    firing: 'waits',
    says: 'A person put a hold: runs are made, and wait.',
    unblocks: 'Lift the hold, or wait for its end.',
  },
} as const satisfies Readonly<Record<string, HoldReason>>

/** The note of such a hold names the calendars that keep the work: `office`, `!night` where night must be over, `?gone` where it does not exist. */
function calendarSentence({ scope, subject, note, from, until }: Hold): string {
  if (from === beforeClosings)
    return `The clock was set back to before the hours of calendar ${note ?? subject} were written; a worker writes them within a minute.`
  const whose = scope === 'queue' ? ` of queue ${subject}` : scope === 'namespace' ? ' of the namespace' : ''
  const each = (note ?? subject).split(', ').map((use) => {
    if (use.startsWith('?')) return `${bare(use)}${whose} does not exist`
    return use.startsWith('!') ? `${bare(use)}${whose} is open, and must be closed` : `${use}${whose} is closed`
  })
  const late = until === null && !note?.startsWith('?') ? '; no worker has written yet when that ends' : ''
  return `Calendar ${each.join(', and ')}${late}.`
}

function calendarLift({ note }: Hold) {
  const [use = ''] = (note ?? '').split(', ')
  const name = bare(use)
  if (use.startsWith('!')) return { what: 'Or give it other hours.', words: ['calendar', 'show', name] }
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
