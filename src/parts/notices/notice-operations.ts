import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { limit, limitDefault, name, scheduleName } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { patched } from '../../operations/fields/patch.ts'
import { inWordsOf, type Problem, quoted, refuse } from '../../operations/input/refuse-input.ts'
import { throwAbsentQueue, throwAbsentSchedule } from '../../operations/not-found.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { type AnswerOf, count, flag, instantOutput, outputOf, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import { listSchedules } from '../../store/reads/find-schedule.ts'
import type { Notify } from './notice.ts'
import { type NoticeEvent, noticeEvents, notifyNames, receivers } from './notice-events.ts'
import { receiversIn } from './notify-setting.ts'
import { findNotify, listNotices, noticeCursorExpected, noticeCursorIn, notifySettings } from './read-notices.ts'
import { notifyAnswered, notifyPatchOf, notifyShape } from './receivers.ts'
import { type NotifyAnswer, setNotify } from './set-notify.ts'
import { showNotices, showNotifyTested, showNotifyWritten } from './show.ts'
import { type NoticeTest, testNotices } from './test-notice.ts'

const notifyWritten = outputOf<NotifyAnswer>()(
  z.strictObject({
    answer: z.enum(['updated', 'unchanged']).describe('What came of it.'),
    notify: notifyAnswered,
  }),
)

export const notify = operation({
  noun: 'store',
  verb: 'notify',
  fieldsAs: 'schedule.put',
  idempotent: true,
  begins: true,
  command: ['notify'],
  says: 'Set the receivers of notifications for the namespace; those of a schedule or a queue come first, and null removes one.',
  request: 'a change of receivers',
  effect: 'write',
  rehearses: true,
  scope: 'admin',
  input: z.strictObject(patched(notifyShape)),
  takes: [],
  output: notifyWritten,
  errors: ['invalid'],
  doors: everyDoor,
  show: showNotifyWritten,
  examples: [
    {
      onFailure: { http: { url: 'https://example.org/hook' } },
      onOverdue: { command: ['/usr/local/bin/page', 'overdue'] },
      onPark: null,
    },
  ],
  async judge({ store, actor, folder, kinds }, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const patch = notifyPatchOf(value, { folder, kinds, problems })
    refuse('The change of receivers', problems)
    return inWordsOf(
      'The change of receivers',
      (problem) => problem,
      () => store.do(setNotify, patch, { actor }),
    )
  },
})

const notifyTested = z.strictObject({
  sent: z
    .array(
      z.strictObject({
        event: z.enum(noticeEvents).describe('The event that the notification is about.'),
        run: text('The run that sends it: its end says whether it arrived.'),
      }),
    )
    .describe('The notifications, one for each event that has a receiver.'),
})

export type NotifyTested = AnswerOf<typeof notifyTested>

export const notifyTest = operation({
  noun: 'store',
  verb: 'notifyTest',
  command: ['notify', 'test'],
  says: 'Send a test notification for each event that has a receiver, to check that it arrives.',
  request: 'a test of notifications',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({
    event: z.enum(noticeEvents).describe('The event to test. Default: every event that has a receiver.').optional(),
    schedule: scheduleName.describe('Test the receivers of this schedule. Default: those of the namespace.').optional(),
    queue: name.describe('Test the receivers of this queue. Default: those of the namespace.').optional(),
  }),
  takes: [],
  output: notifyTested,
  errors: ['invalid', 'not-found'],
  doors: { ...everyDoor, mcp: 'Only the person who receives a notification can say that it arrived.' },
  show: showNotifyTested,
  examples: [{}, { event: 'failure', schedule: 'report' }],
  async judge(context, { value, problems: found }) {
    const { schedule, queue } = value
    const problems = [...found]
    if (schedule !== undefined && queue !== undefined) {
      problems.push({ field: 'queue', problem: 'is given beside `schedule`', expected: 'only one of the two' })
    }
    refuse('The test of notifications', problems)
    const answer = await context.store.do(testNotices, onlyGiven(value))
    if (answer.answer === 'sent' && answer.sent.length > 0) return { sent: answer.sent }
    if (answer.answer === 'sent') throw await noReceiver(context, onlyGiven(value))
    return schedule === undefined ? throwAbsentQueue(context, queue ?? '') : throwAbsentSchedule(context, schedule)
  },
})

async function noReceiver({ store }: OperationContext, test: NoticeTest): Promise<BelfryError> {
  const { event, schedule, queue } = test
  const of =
    schedule !== undefined
      ? ` of schedule ${quoted(schedule)}`
      : queue !== undefined
        ? ` of queue ${quoted(queue)}`
        : ''
  const message =
    event === undefined ? `No notifications${of} are configured.` : `No receiver is configured for ${event}${of}.`
  const example = `belfry notify --on-failure '{"http":{"url":"https://example.org/hook"}}'`
  const others = of === '' ? await othersIn(store, event) : ''
  return new BelfryError('not-found', message, { hint: `Name a receiver: ${example}${others}` })
}

const schedulesSearchedMax = 1_000

/** How to test the receivers that a schedule or a queue has for itself, where one of them has any. */
async function othersIn(store: OperationContext['store'], event: NoticeEvent | undefined): Promise<string> {
  const has = (notify: Notify | null) =>
    notifyNames.some((field) => {
      const told = receivers[field].event
      return (event ?? told) === told && notify?.[field] !== undefined
    })
  const schedules = await store.look(listSchedules, { limit: schedulesSearchedMax })
  const schedule = schedules.find(({ spec }) => has(receiversIn(spec)))?.spec.name
  if (schedule !== undefined) {
    return `; schedule ${quoted(schedule)} has its own: ${belfryCommand('notify', 'test', '--schedule', schedule)}`
  }
  const queue = (await store.look(notifySettings)).find((each) => each.queue !== null && has(each.notify))?.queue
  if (queue != null) return `; queue ${quoted(queue)} has its own: ${belfryCommand('notify', 'test', '--queue', queue)}`
  return '; a receiver that only a schedule names is tested with: belfry notify test --schedule NAME'
}

const noticeSaid = z
  .strictObject({
    event: z.enum(noticeEvents).describe('The event of the notification.'),
    schedule: text('The schedule that it is about.').nullable(),
    queue: text('The queue that it is about, where the work has no schedule.').nullable(),
    about: text('What it is about, where that is neither a schedule nor a queue, such as a budget.').nullable(),
    at: instantOutput('When the last one was sent.'),
    suppressed: count('How many were suppressed since then.'),
    isOpen: flag('Whether it has not recovered since then.'),
  })
  .describe('The last notification of an event about a schedule or a queue.')

const place = noted(
  z.string().refine((text) => noticeCursorIn(text) !== null),
  { expected: noticeCursorExpected },
)

const noticesPage = z.strictObject({
  notify: notifyAnswered,
  told: z.array(noticeSaid).describe('The last notifications, newest first.'),
  next: text('Pass it as before to get the next page; null at the end.').nullable(),
})

/** The receivers of the namespace, and the last notifications. */
export type Notices = AnswerOf<typeof noticesPage>

export const notices = operation({
  noun: 'store',
  verb: 'notices',
  command: ['notices'],
  says: 'Show the receivers of the namespace and the last notifications about each schedule and queue, a page at a time.',
  request: 'a list of notifications',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    before: place.describe('The next of the previous page.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: noticesPage,
  errors: ['invalid'],
  doors: everyDoor,
  show: showNotices,
  examples: [{}, { before: '1767603600000.schedule.17.failure', limit: 10 }],
  nextPage: ({ next }) => (next === null ? null : { before: next }),
  async run({ store }, page) {
    const notify = await store.look(findNotify)
    return { notify, ...(await store.look(listNotices, { limit: limitDefault, ...onlyGiven(page) })) }
  },
})
