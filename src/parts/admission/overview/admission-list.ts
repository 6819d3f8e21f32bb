import { z } from 'zod'
import { spentOn, stateAt } from '../../../core/budget/budget.ts'
import { byExplanation, type Hold, holdSubject } from '../../../core/hold.ts'
import { type HoldReason, holdLift, holdSentence, kernelHoldReasons } from '../../../core/hold-reason.ts'
import { fleetOf, haltedAmong, haltLift } from '../../../operations/explain/fleet.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { belfryCommand } from '../../../operations/shell-words.ts'
import type { Listing } from '../../../operations/show.ts'
import type { WorkerView } from '../../../store/views.ts'
import { budgetReason, spentWords } from '../budgets/budget-hold.ts'
import type { Budget } from '../budgets/budget-row.ts'
import { listBudgets } from '../budgets/write-budget.ts'
import { countMax, type HeldWork, heldWork } from './held-work.ts'

const stoppage = z.strictObject({
  hold: text('The id of the hold; null where it is none.').nullable(),
  on: text(
    'What it stops: the namespace, a queue, a kind of target, a calendar, an account, a schedule, a key, a tag or a worker.',
  ),
  reason: text('Why, as a code of the catalogue of reasons.'),
  sentence: text('Why, in words.'),
  by: text('Who put it; for a worker that starts nothing, its machine.'),
  from: instantOutput('Since when it holds; null where that is not recorded.').nullable(),
  until: instantOutput('When it ends by itself; null where it is lifted by hand.').nullable(),
  waiting: count('How many runs wait under it; null where they are not counted.').nullable(),
  waitingIsAtLeast: flag('Whether more runs wait than were counted.'),
  lift: text('What ends it early: a command, or a sentence.'),
})
/** What keeps work from starting now. */
export type Stoppage = AnswerOf<typeof stoppage>

const shown: Listing<readonly Stoppage[], Stoppage> = {
  none: 'Nothing keeps work from starting.',
  columns: [
    ['STOPS', 'on', 'text'],
    [
      'WAITING',
      ({ waiting, waitingIsAtLeast }) => (waiting === null ? '–' : `${waiting}${waitingIsAtLeast ? '+' : ''}`),
    ],
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
  says: 'List what keeps work from starting: every hold in force, spent budgets of tags, and workers that start nothing; with who, why, until when, and what lifts it.',
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
  async run(context) {
    const { store, holdReasons } = context
    const held = await store.look(heldWork)
    const ofHolds = held.toSorted((a, b) => byExplanation(a.hold, b.hold)).map((one) => stoppageOf(one, holdReasons))
    const { live, now } = await fleetOf(context)
    return [...haltedAmong(live).map(haltedWorker), ...ofHolds, ...spentTags(await store.look(listBudgets), now)]
  },
})

const uncounted = { hold: null, from: null, waiting: null, waitingIsAtLeast: false } as const

/** A file or the environment of the worker stops it, and no row of the store says so but its own. */
function haltedWorker({ name, host, halted }: WorkerView & { readonly halted: string }): Stoppage {
  return {
    ...uncounted,
    on: `worker:${name}`,
    reason: kernelHoldReasons.stopped.code,
    sentence: `Worker ${name} on ${host} starts nothing: it is stopped by ${halted}.`,
    by: host,
    until: null,
    lift: haltLift(halted),
  }
}

/** The spent budget of a tag puts no hold: its runs are asked under their leases. */
function spentTags(budgets: readonly Budget[], now: number): Stoppage[] {
  return budgets.flatMap((budget) => {
    const { name, scope, subject, terms } = budget
    if (scope !== 'tag' || terms.per === 'run') return []
    const state = stateAt(terms, budget.state, now)
    const spent = spentOn(terms, state)
    if (spent === null) return []
    return {
      ...uncounted,
      on: `tag:${subject}`,
      reason: budgetReason.code,
      sentence: spentWords(budget, state, spent),
      by: `budget ${name}`,
      until: state.until,
      lift: belfryCommand('budget', 'topup', name),
    }
  })
}

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
