import { z } from 'zod'
import { byExplanation, type Hold, holdSubject } from '../../../core/hold.ts'
import { type HoldReason, holdLift, holdSentence } from '../../../core/hold-reason.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import { count, flag, instantOutput, outputOf, text } from '../../../operations/schema/output-schema.ts'
import { belfryCommand } from '../../../operations/shell-words.ts'
import type { Listing } from '../../../operations/show.ts'
import { countMax, type HeldWork, heldWork } from './held-work.ts'

/** What keeps work from starting now. */
export interface Stoppage {
  readonly hold: string
  readonly on: string
  readonly reason: string
  readonly sentence: string
  readonly by: string
  readonly from: number
  readonly until: number | null
  readonly waiting: number
  readonly waitingIsAtLeast: boolean
  readonly lift: string
}

const stoppage = outputOf<Stoppage>()(
  z.strictObject({
    hold: text('The id of the hold.'),
    on: text('What it stops: the namespace, a queue, a kind of target, a calendar, an account, a schedule or a key.'),
    reason: text('Why, as a code of the catalogue of reasons.'),
    sentence: text('Why, in words.'),
    by: text('Who put it.'),
    from: instantOutput('Since when it holds.'),
    until: instantOutput('When it ends by itself; null where it is lifted by hand.').nullable(),
    waiting: count('How many runs wait under it.'),
    waitingIsAtLeast: flag('Whether more runs wait than were counted.'),
    lift: text('What ends it early: a command, or a sentence.'),
  }),
)

const shown: Listing<readonly Stoppage[], Stoppage> = {
  none: 'Nothing keeps work from starting.',
  columns: [
    ['STOPS', 'on', 'text'],
    ['WAITING', ({ waiting, waitingIsAtLeast }) => `${waiting}${waitingIsAtLeast ? '+' : ''}`],
    ['REASON', ({ reason }, { paint }) => paint.yellow(reason)],
    ['UNTIL', ({ until }, { when }) => (until === null ? 'it is lifted' : when(until))],
    ['BY', 'by', 'text'],
    ['WHY', ({ sentence }, { spelled }) => spelled(sentence)],
    ['LIFT', ({ lift }, { spelled }) => spelled(lift)],
  ],
}

export const list = operation({
  noun: 'admission',
  verb: 'list',
  command: ['admission'],
  method: 'GET',
  says: 'List every hold in force: what it stops, how many runs wait, who put it, why, until when, and what lifts it.',
  request: 'a list of what keeps work from starting',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({}),
  takes: [],
  output: z.array(stoppage),
  show: shown,
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}],
  async run({ store, holdReasons }) {
    const held = await store.look(heldWork)
    return held.toSorted((a, b) => byExplanation(a.hold, b.hold)).map((one) => stoppageOf(one, holdReasons))
  },
})

function stoppageOf({ hold, waiting }: HeldWork, reasons: Readonly<Record<string, HoldReason>>): Stoppage {
  const { id, reason, by, from, until } = hold
  return {
    hold: id,
    on: holdSubject(hold),
    reason,
    sentence: holdSentence(hold, reasons),
    by,
    from,
    until,
    waiting: Math.min(waiting, countMax),
    waitingIsAtLeast: waiting > countMax,
    lift: liftWords(hold, reasons),
  }
}

function liftWords(hold: Hold, reasons: Readonly<Record<string, HoldReason>>): string {
  const { what, words } = holdLift(hold, reasons)
  return words.length === 0 ? what : belfryCommand(...words)
}
