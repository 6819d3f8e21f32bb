import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { kernelHoldReasons } from '../../core/hold-reason.ts'
import { parseId } from '../../core/id.ts'
import { limit, limitDefault, reason } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { durationFields } from '../../operations/input/duration-input.ts'
import { instant } from '../../operations/input/instant.ts'
import { inWordsOf, type Problem, quoted, refuse } from '../../operations/input/refuse-input.ts'
import { behindLast } from '../../operations/next-page.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import { refuseAbsentSubject } from '../../operations/present-subject.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { awaitLeases } from '../../store/holds/await-leases.ts'
import { liftHold } from '../../store/holds/lift-hold.ts'
import { listHolds } from '../../store/holds/list-holds.ts'
import { putHold } from '../../store/holds/put-hold.ts'
import { turnHolds } from '../../store/holds/turn-holds.ts'
import type { Store } from '../../store/port.ts'
import { clockNow } from '../../store/statement.ts'
import { type Hold, holdAnswer, holdSchema } from './hold-answer.ts'
import { type HoldOn, onWords, readOn, readStretch, throwAbsent } from './hold-input.ts'
import { changing } from './people.ts'
import { holdsShown, showLifted, showPut } from './show.ts'
import { go, stop } from './stop-verbs.ts'

export const put = operation({
  ...changing,
  verb: 'put',
  method: 'POST',
  says: 'Put a hold: runs on its subject are made and wait until it ends; what is at work finishes.',
  request: 'a hold',
  input: z.strictObject({
    on: z.string().describe(`What to hold: ${onWords}.`),
    reason: reason.describe('Why, for everyone who asks what work waits for.'),
    from: instant.describe('When the hold begins. Default: now.').optional(),
    until: instant.describe('When the hold ends by itself. Default: when it is lifted.').optional(),
    ...durationFields('for', 'How long the hold lasts, in place of until.'),
  }),
  takes: [],
  output: holdSchema,
  show: showPut,
  errors: ['invalid', 'not-found'],
  examples: [
    { on: 'queue:mail', reason: 'The mail server is moved.', for: '2h' },
    { on: 'kind:handler/report', reason: 'Its database is rebuilt.' },
    { on: 'schedule:nightly', reason: 'Audit.', from: '2026-12-01T09:00Z', until: '2026-12-03T09:00Z' },
  ],
  async judge(context, { given, value, problems: found }) {
    const { store, actor } = context
    const problems: Problem[] = [...found]
    const on = value.on === undefined ? undefined : readOn(value.on, context.kinds)
    if (on !== undefined && 'problem' in on) problems.push({ field: 'on', ...on })
    const stretch = readStretch(given, value, await store.look(clockNow), problems)
    refuse('The hold', problems)
    const subject = on as HoldOn
    const wanted = { ...subject, ...stretch, reason: kernelHoldReasons.hold, note: value.reason as string, actor }
    await refuseAbsentSubject(context, subject)
    const answer = await inWordsOf('The hold', inOwnWords, () => store.do(putHold, wanted))
    if (answer.answer === 'not-found') return throwAbsent(context, subject)
    if (stretch.from === undefined) await takeEffect(store)
    return holdAnswer(answer.hold, await store.look(clockNow))
  },
})

/** What the store finds wrong, by the field that the caller wrote. */
function inOwnWords({ field, ...rest }: Problem): Problem {
  return { ...rest, field: field === 'subject' ? 'on' : field }
}

export const list = operation({
  noun: 'hold',
  verb: 'list',
  method: 'GET',
  says: 'List the holds that have not ended, by id, a page at a time.',
  request: 'a list of holds',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    after: z.string().describe('The last id of the page before.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: z.array(holdSchema),
  show: holdsShown,
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}, { after: 'h-11', limit: 20 }],
  nextPage: behindLast<Hold>(({ id }) => ({ after: id })),
  async run({ store }, page) {
    const now = await store.look(clockNow)
    return (await store.look(listHolds, { limit: limitDefault, ...onlyGiven(page) })).map((hold) =>
      holdAnswer(hold, now),
    )
  },
})

const holdId = noted(
  z.string().refine((text) => parseId('hold', text) !== null),
  { expected: 'the id of a hold, such as h-11' },
)

export const lift = operation({
  ...changing,
  verb: 'lift',
  says: 'Lift a hold: what it kept may start at once, unless another hold keeps it.',
  request: 'a lifting of a hold',
  input: z.strictObject({ id: holdId.describe('The id of the hold.') }),
  takes: ['id'],
  output: holdSchema,
  show: showLifted,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ id: 'h-11' }],
  async run({ store, actor }, { id }) {
    const lifted = await store.do(liftHold, id, { actor })
    if (lifted === null) throw absentHold(id)
    const now = await store.look(clockNow)
    await turned(store)
    return { ...holdAnswer(lifted, now), inForce: false }
  },
})

function absentHold(id: string): BelfryError {
  return new BelfryError('not-found', `There is no hold ${quoted(id)}: it has ended, was lifted, or never existed.`, {
    hint: 'See the holds: `belfry hold list`.',
    details: { id },
  })
}

/** When it returns, no lease is under way that has not seen the hold, and the runs of a held schedule or key are set aside. */
async function takeEffect(store: Store): Promise<void> {
  await store.do(awaitLeases)
  await turned(store)
}

/** After this many steps the call returns. The workers set the remaining runs aside, and no lease takes them meanwhile. */
const stepsMax = 50
const turnedMax = 100

async function turned(store: Store): Promise<void> {
  for (let steps = 1; steps <= stepsMax; steps++) {
    if (!(await store.do(turnHolds, { limit: turnedMax })).more) return
  }
}

export const holdOperations = { put, list, lift, stop, go }
