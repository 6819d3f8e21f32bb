import { type Hold, type HoldFiring, holdSubject } from './hold.ts'

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
  /** What ends this hold by itself. Default: its end, where it has one. */
  readonly ends?: string
  /** How a person ends this hold, and the words of the command. Default: lifts it by its id. */
  readonly lift?: (hold: Hold) => { readonly what: string; readonly words: readonly string[] }
}

export const kernelHoldReasons = {
  stopped: {
    code: 'stopped',
    firing: 'nothing',
    says: 'Everything is stopped: nothing is fired and nothing is leased.',
    unblocks: 'Start everything again with `belfry go`; the `missed` rules then decide about what was due meanwhile.',
    sentence: ({ by, note }) => `Everything is stopped by ${by}${because(note)}.`,
    lift: () => ({ what: 'Start everything again.', words: ['go'] }),
  },
  paused: {
    code: 'paused',
    firing: 'waits',
    says: 'The queue is paused: its runs are made, and wait.',
    unblocks: 'Resume the queue.',
    sentence: ({ subject, note }) => `Its queue ${subject} is paused${because(note)}.`,
    lift: ({ subject }) => ({ what: 'Resume the queue.', words: ['queue', 'resume', subject] }),
  },
  hold: {
    code: 'hold',
    firing: 'waits',
    says: 'A person put a hold: runs are made, and wait.',
    unblocks: 'Lift the hold, or wait for its end.',
  },
} as const satisfies Readonly<Record<string, HoldReason>>

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
