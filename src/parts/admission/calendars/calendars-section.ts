import { z } from 'zod'
import type { OpeningHours } from '../../../core/opening/opening.ts'
import { type ChangedEntry, type ConfigSection, writtenBy } from '../../../operations/config-section.ts'
import { read } from '../../../operations/input/read-input.ts'
import { refuseManaged } from '../../../store/managed.ts'
import { all, both, clockNow, run } from '../../../store/statement.ts'
import { calendarName, hoursShape, readHours } from './calendar-input.ts'
import { findCalendar } from './read-calendars.ts'
import { deleteCalendar, putCalendar } from './write-calendar.ts'

declare module '../../../core/added.ts' {
  interface AddedToConfig {
    readonly calendars: AddedType<
      readonly { readonly name: string; readonly answer: string }[],
      Record<string, unknown>
    >
  }
}

const findKept = both(
  'calendar find managed',
  'select name from belfry.calendar where ns = $1 and managed_by = $2 and deleted_at is null order by name',
)
const manage = both('calendar manage', 'update belfry.calendar set managed_by = $3 where ns = $1 and name = $2')
const form = z.strictObject(hoursShape)

/** `left`: the file no longer names it, but something follows it, so that it is not deleted. */
type CalendarApplied = ChangedEntry<OpeningHours, 'created' | 'updated' | 'unchanged' | 'deleted' | 'left'>

export interface CalendarEntry {
  readonly name: string
  readonly hours: OpeningHours
}

/** Calendars in a config file. They are applied before the queues and schedules that follow them. */
export const calendars: ConfigSection<CalendarEntry, CalendarApplied> = {
  name: 'calendars',
  says: 'Calendars by name, each with the fields of calendar put.',
  names: calendarName,
  isFirst: true,
  deletes: true,
  async reader({ store, zone }) {
    const now = await store.look(clockNow)
    return (name, given, problems) => {
      const { value, problems: found } = read(form, given ?? {}, 'a calendar')
      const hours = readHours(value, { zone, now })
      problems.push(...found, ...hours.problems)
      return { name, hours: hours.hours }
    }
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, { name, hours }) {
    const found = yield* findCalendar(context, name)
    refuseManaged({ noun: 'calendar', name, managedBy: found?.managedBy ?? null }, source)
    const { answer, before } = yield* putCalendar(context, { name, hours }, { actor, source })
    yield* run(manage, context.ns, name, source)
    return {
      name,
      answer: answer === 'version-differs' ? 'unchanged' : answer,
      before: before?.hours ?? null,
      after: hours,
    }
  },
  *leave({ context, source, actor }, name) {
    const found = yield* findCalendar(context, name)
    const { answer } = yield* deleteCalendar(context, name, { actor, source })
    if (answer === 'not-found') return null
    if (answer === 'in-use') yield* run(manage, context.ns, name, null)
    const before = found?.hours ?? null
    return {
      name,
      answer: answer === 'deleted' ? 'deleted' : 'left',
      before,
      after: answer === 'deleted' ? null : before,
    }
  },
  written: writtenBy(),
  notes: (applied) =>
    applied
      .filter(({ answer }) => answer === 'left')
      .map(({ name }) => `Calendar ${name} is no longer managed by a file and is unchanged: something follows it.`),
}
