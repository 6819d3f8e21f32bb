import { z } from 'zod'
import { type Notify, noticeEvents } from '../../core/notice.ts'
import type { NoticeView, NotifyAnswer } from '../../store/notice-steps.ts'
import { limit, limitDefault } from '../fields.ts'
import { notifyAnswered, notifyPatchOf, notifyShape } from '../notify-input.ts'
import { onlyGiven } from '../only-given.ts'
import { everyDoor, operation } from '../operation.ts'
import { count, flag, instantSaid, outputOf, text } from '../output.ts'
import { patched } from '../patch.ts'
import { inWordsOf, type Problem, refuse } from '../problem.ts'

const notifyWritten = outputOf<NotifyAnswer>()(
  z.strictObject({
    answer: z.enum(['updated', 'unchanged']).describe('What came of it.'),
    notify: notifyAnswered,
  }),
)

export const notify = operation({
  noun: 'store',
  verb: 'notify',
  command: ['notify'],
  says: 'Says who is told of what fails in the whole namespace, where no schedule or queue says it; null takes one away.',
  request: 'a wish to be told',
  effect: 'write',
  rehearses: true,
  scope: 'admin',
  input: z.strictObject(patched(notifyShape)),
  takes: [],
  output: notifyWritten,
  errors: ['invalid'],
  doors: everyDoor,
  examples: [
    {
      onFailure: { http: { url: 'https://example.org/hook' } },
      onOverdue: { command: ['/usr/local/bin/page', 'overdue'] },
      onPark: null,
    },
  ],
  async judge({ store, actor, folder }, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const patch = notifyPatchOf(value, { folder, problems })
    refuse('The wish to be told', problems)
    return inWordsOf(
      'The wish to be told',
      (problem) => problem,
      () => store.setNotify(patch, { actor }),
    )
  },
})

/** Who is told of what, and what was told. */
export interface Notices {
  readonly notify: Notify
  readonly told: readonly NoticeView[]
  readonly next: string | null
}

const noticeSaid = outputOf<NoticeView>()(
  z
    .strictObject({
      event: z.enum(noticeEvents).describe('What was told.'),
      schedule: text('The schedule that it was about.').nullable(),
      queue: text('The queue that it was about, where the work was of no schedule.').nullable(),
      at: instantSaid('When it was told last.'),
      suppressed: count('How many were held back since then.'),
      isOpen: flag('Whether its end has not been told.'),
    })
    .describe('What was told last of a schedule or a queue.'),
)

export const notices = operation({
  noun: 'store',
  verb: 'notices',
  command: ['notices'],
  says: 'Shows who is told of what fails in the whole namespace, and what was told last of each schedule and queue, a page at a time.',
  request: 'a look at notices',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    before: z.string().describe('The next of the page before.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: outputOf<Notices>()(
    z.strictObject({
      notify: notifyAnswered,
      told: z.array(noticeSaid).describe('What was told last, the newest first.'),
      next: text('Where the list goes on: the before of the next page.').nullable(),
    }),
  ),
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}, { before: '1767603600000.schedule.17.failure', limit: 10 }],
  nextPage: ({ next }) => (next === null ? null : { before: next }),
  async run({ store }, page) {
    const notify = await store.read.notify()
    return { notify, ...(await store.read.notices({ limit: limitDefault, ...onlyGiven(page) })) }
  },
})
