import { verbsAt } from './desk.ts'
import type { Stage } from './stages.ts'

const calendars: Stage = async ({ context }) => {
  const { calendars: verbs } = verbsAt(() => context)
  await verbs.put('office', { zone: 'Europe/Paris', open: ['mon-fri 08:00-18:00'] })
  await verbs.put('office', { open: ['mon-fri 09:00-18:00'], closedDates: ['12-25'] })
  await verbs.put('night', { zone: 'Europe/Paris', open: ['mon-sun 22:00-07:00'] })
  return {}
}

/** The stages of calendars. */
export const calendarStages = {
  'calendar put': async () => ({}),
  'calendar get': calendars,
  'calendar list': calendars,
  'calendar test': calendars,
  'calendar delete': calendars,
  'calendar revert': calendars,
  'calendar apply': calendars,
} satisfies Record<string, Stage>
