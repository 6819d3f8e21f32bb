import type { Part } from '../../../part.ts'
import { calendarDuty } from './calendar-duty.ts'
import { calendarFields, wasForced } from './calendar-field.ts'
import { calendarOperations } from './calendar-verbs.ts'
import { calendars as section } from './calendars-section.ts'

const forcedNote = 'A person forced it: closed calendars do not keep it from starting.'

/** Calendars: when work may start. The tables and the holds of closings are the kernel's, as schedules are planned by them. */
export const calendars = {
  name: 'calendars',
  fields: calendarFields,
  explainsRun: async (_, run) => (wasForced(run.options.calendar as readonly string[] | undefined) ? [forcedNote] : []),
  duties: [calendarDuty],
  config: [section],
  nouns: {
    calendar: {
      says: 'When work may start: opening hours that schedules, queues, runs or the namespace follow.',
      plural: 'calendars',
      operations: calendarOperations,
      otherWords: {
        calendars: 'calendar list',
        holidays: 'calendar',
        'calendar ls': 'list',
        'calendar add': 'put',
        'calendar create': 'put',
        'calendar set': 'put',
        'calendar rm': 'delete',
        'calendar remove': 'delete',
        'calendar get': 'show',
      },
    },
  },
} as const satisfies Part
