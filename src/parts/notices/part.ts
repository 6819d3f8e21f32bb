import type { Part } from '../../part.ts'
import { notices as tables } from './0009-notices.ts'
import { receivers as receiversMoved } from './0017-receivers.ts'
import { heldNotices } from './0027-held-notices.ts'
import { receivers } from './check-receivers.ts'
import { noticesPolicy, noticesQueue } from './notice.ts'
import { writeNotice } from './notice-message.ts'
import { notices as list, notify, notifyTest } from './notice-operations.ts'
import { noticeInWords } from './notice-words.ts'
import { notifyEnds } from './notify-ends.ts'
import { notifyRaised } from './notify-raised.ts'
import { ensureLanesOf } from './notify-setting.ts'
import { overdueDuty } from './overdue-duty.ts'
import { queueFields, scheduleFields } from './receivers.ts'
import { sweepNotices } from './sweep-notices.ts'
import { namesCalendar, quietDuty } from './tell-held.ts'

/** Notifications: of work that failed, was parked, is overdue, has recovered or answered, and of what other parts raise. Each is a run that sends it. */
export const notices = {
  name: 'notices',
  migrations: [tables, receiversMoved, heldNotices],
  ended: notifyEnds,
  // A notice that fails sends no notice, also after a person retried it.
  sourcesKept: ['notice'],
  written: ensureLanesOf,
  hears: notifyRaised,
  fields: { schedule: scheduleFields, queue: queueFields },
  namesCalendar,
  messages: { notice: writeNotice },
  queues: { [noticesQueue]: noticesPolicy },
  sweeps: [sweepNotices],
  duties: [overdueDuty, quietDuty],
  checks: [receivers],
  nouns: { store: { operations: { notify, notifyTest, notices: list } } },
  origins: {
    notice: {
      sentence: ({ payload }) => `It notifies a receiver of ${noticeInWords(payload)}.`,
      asked: '',
      about: ({ payload }) => noticeInWords(payload),
    },
  },
} as const satisfies Part
