import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import type { OpeningHours } from '../../../core/opening/opening.ts'
import { pageByName, reason } from '../../../operations/fields/basic-fields.ts'
import { calendarUses } from '../../../operations/fields/calendar-uses.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { instant } from '../../../operations/input/instant.ts'
import { type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { absent, namesMax } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { freedName } from '../../../operations/schema/output-schema.ts'
import { deleted } from '../../../operations/show.ts'
import { askAgain } from '../../../store/calendars/ask-again.ts'
import { calendarsOfNamespace } from '../../../store/calendars/use-calendars.ts'
import { awaitLeases } from '../../../store/holds/await-leases.ts'
import { turnHolds } from '../../../store/holds/turn-holds.ts'
import type { Store } from '../../../store/port.ts'
import { clockNow } from '../../../store/statement.ts'
import {
  type Calendar,
  type CalendarWritten,
  calendarOf,
  calendarSchema,
  calendarShown,
  calendarTested,
  calendarWritten,
  openingsOf,
} from './calendar-answer.ts'
import { calendarName, hoursShape, notesOn, readHours } from './calendar-input.ts'
import { calendarVersions, findCalendar, listCalendars } from './read-calendars.ts'
import { calendarsShown, showApplied, showCalendar, showTested, showWritten } from './show.ts'
import {
  applyToNamespace,
  type CalendarRow,
  type CalendarUsers,
  deleteCalendar,
  type PutCalendar,
  putCalendar,
  usersOf,
} from './write-calendar.ts'

/** Other hours would let work start that a person has bounded. */
const people: Doors = { ...everyDoor, mcp: 'Only a person decides when work may start; a model reads the calendars.' }
const changing = { noun: 'calendar', effect: 'write', scope: 'operate', doors: people, persons: true } as const
const looking = { noun: 'calendar', effect: 'read', scope: 'read', doors: everyDoor } as const
const named = z.strictObject({ name: calendarName })
const version = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)

export const put = operation({
  ...changing,
  verb: 'put',
  method: 'PUT',
  idempotent: true,
  begins: true,
  says: 'Create a calendar or replace its hours: work that follows it starts only while it is open.',
  request: 'a calendar',
  input: z.strictObject({
    name: calendarName,
    ...hoursShape,
    ifVersion: version.describe('Write only over this version; 0: only if the calendar does not exist.').optional(),
    reason: reason.optional(),
  }),
  takes: ['name'],
  output: calendarWritten,
  show: showWritten,
  errors: ['invalid', 'conflict'],
  examples: [
    { name: 'office', zone: 'Europe/Paris', open: ['mon-fri 08:00-18:00'], closedDates: ['2026-12-25', '01-01'] },
    { name: 'night', zone: 'Europe/Paris', open: ['mon-sun 22:00-07:00'] },
    { name: 'quarter-hours', cron: '0-14 * * * *' },
  ],
  async judge(context, { value, problems: found }) {
    const { name, ifVersion, reason: why, ...given } = value
    const now = await context.store.look(clockNow)
    const before = name === undefined ? null : await context.store.look(findCalendar, name)
    const read = readHours(given, { zone: before?.hours.zone ?? context.zone, now, isWhole: found.length === 0 })
    const problems: Problem[] = [...found, ...read.problems]
    refuse(name === undefined ? 'The calendar' : `Calendar ${quoted(name)}`, problems)
    const options = { actor: context.actor, ...onlyGiven({ ifVersion, reason: why }) }
    const written = await write(context, { name: name as string, hours: read.hours }, options)
    const { imported } = read
    return { ...written, ...(imported !== null && { imported: imported.events }), unread: imported?.unread ?? [] }
  },
})

async function write(
  context: OperationContext,
  calendar: { readonly name: string; readonly hours: OpeningHours },
  options: Parameters<typeof putCalendar>[2],
): Promise<CalendarWritten> {
  const { store } = context
  const answer = await store.do(putCalendar, calendar, options)
  if (answer.answer === 'version-differs') throw otherVersion(calendar.name, answer, options.ifVersion)
  const schedules = answer.answer === 'unchanged' ? 0 : await takeEffect(store)
  const row = answer.calendar as CalendarRow
  const shown = calendarOf(row, await store.look(clockNow))
  return { answer: answer.answer, calendar: shown, notes: notesOn(row.hours), unread: [], schedules }
}

function otherVersion(name: string, { calendar }: PutCalendar, expected: number | undefined): BelfryError {
  const is = calendar?.version ?? 0
  return new BelfryError('conflict', `Calendar ${quoted(name)} has version ${is}, not ${expected}.`, {
    hint: 'Read its hours, and decide again.',
    details: { calendar: name, version: is },
  })
}

/** After this many steps the call returns; a worker asks the remaining schedules. */
const stepsMax = 50
const askedMax = 100
const turnedMax = 100

/**
 * When it returns, no lease is under way that has not seen the closings, and the holders of runs that a closing gives back have
 * been asked. The schedules concerned are planned again, a bounded number in each step.
 */
export async function takeEffect(store: Store): Promise<number> {
  await store.do(awaitLeases)
  await store.do(turnHolds, { limit: turnedMax })
  let asked = 0
  for (let steps = 1; steps <= stepsMax; steps++) {
    const { changed, more } = await store.do(askAgain, { limit: askedMax })
    asked += changed
    if (!more) break
  }
  return asked
}

export const get = operation({
  ...looking,
  verb: 'get',
  method: 'GET',
  command: ['calendar', 'show'],
  says: 'Show a calendar: its hours, whether it is open, what follows it, and its versions.',
  request: 'a request for a calendar',
  input: named,
  takes: ['name'],
  output: calendarShown,
  show: showCalendar,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'office' }],
  async run(context, { name }) {
    const { store } = context
    const row = await present(context, name)
    const [usedBy, versions] = [await store.look(usersOf, name), await store.look(calendarVersions, name)]
    const last = versions.slice(0, versionsMax).map(({ version: of, at, actor, reason: why }) => {
      return { version: of, at, actor, reason: why }
    })
    return { ...calendarOf(row, await store.look(clockNow)), usedBy, versions: last }
  },
})

const versionsMax = 20

export const list = operation({
  ...looking,
  verb: 'list',
  method: 'GET',
  says: 'List calendars by name, a page at a time.',
  request: 'a list of calendars',
  input: z.strictObject(pageByName),
  takes: [],
  output: z.array(calendarSchema),
  show: calendarsShown,
  errors: ['invalid'],
  examples: [{}, { after: 'night', limit: 20 }],
  nextPage: behindLast<Calendar>(({ name }) => ({ after: name })),
  async run({ store }, page) {
    const now = await store.look(clockNow)
    return (await store.look(listCalendars, onlyGiven(page))).map((row) => calendarOf(row, now))
  },
})

export const test = operation({
  ...looking,
  verb: 'test',
  says: 'Print the openings of a calendar, with the clock changes among them.',
  request: 'a test of a calendar',
  input: z.strictObject({
    name: calendarName,
    from: instant.describe('From when on. Default: now.').optional(),
    days: z.int().min(1).max(400).describe('For how many days. Default: 14.').optional(),
  }),
  takes: ['name'],
  output: calendarTested,
  show: showTested,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'office' }, { name: 'office', from: '2026-10-24T00:00Z', days: 3 }],
  async run(context, { name, from, days = 14 }) {
    const { hours } = await present(context, name)
    const begins = from ?? (await context.store.look(clockNow))
    return { name, zone: hours.zone, openings: openingsOf(hours, { from: begins, until: begins + days * 86_400_000 }) }
  },
})

export const remove = operation({
  ...changing,
  verb: 'delete',
  method: 'DELETE',
  idempotent: true,
  asksFirst: true,
  effect: 'destructive',
  says: 'Delete a calendar that nothing follows.',
  request: 'a deletion of a calendar',
  input: named,
  takes: ['name'],
  output: freedName,
  show: ({ name }, sheet) => deleted(`calendar ${name}`, sheet),
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'office' }],
  async run(context, { name }) {
    const answer = await context.store.do(deleteCalendar, name, { actor: context.actor })
    if (answer.answer === 'in-use') throw inUse(name, answer.users)
    return answer.answer === 'deleted' ? { name, deleted: true as const } : absentCalendar(context, name)
  },
})

const usersNamedMax = 5

export function inUse(name: string, users: CalendarUsers): BelfryError {
  const said = Object.entries(users).map(([noun, names]) => {
    const more = names.length > usersNamedMax ? ` and ${names.length - usersNamedMax} more` : ''
    return `${noun} ${names.slice(0, usersNamedMax).join(', ')}${more}`
  })
  return new BelfryError('conflict', `Calendar ${quoted(name)} is followed by ${said.join('; ')}.`, {
    hint: 'Give these other calendars, or none, first.',
    details: { calendar: name, users },
  })
}

export const revert = operation({
  ...changing,
  verb: 'revert',
  says: 'Restore an earlier version of a calendar; by default the previous one.',
  request: 'a revert of a calendar',
  input: z.strictObject({
    name: calendarName,
    to: version.min(1).describe('The version to restore. Default: the previous one.').optional(),
    reason: reason.optional(),
  }),
  takes: ['name'],
  output: calendarWritten,
  show: showWritten,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'office' }, { name: 'office', to: 1, reason: 'The holidays were those of another country.' }],
  async run(context, { name, to, reason: why }) {
    const versions = await context.store.look(calendarVersions, name)
    const [newest] = versions
    if (newest === undefined) return absentCalendar(context, name)
    const wanted = to ?? newest.version - 1
    const found = versions.find((one) => one.version === wanted)
    if (found === undefined) {
      throw new BelfryError('not-found', `Calendar ${quoted(name)} has no version ${wanted}.`, {
        hint: `Its newest version is ${newest.version}; \`belfry calendar show\` lists them.`,
        details: { calendar: name, version: wanted },
      })
    }
    const options = { actor: context.actor, reason: why ?? `revert to version ${wanted}` }
    return write(context, { name, hours: found.hours }, options)
  },
})

export const apply = operation({
  ...changing,
  verb: 'apply',
  idempotent: true,
  about: () => 'namespace',
  says: 'Bound the whole namespace by calendars: nothing in it starts while one of them is closed.',
  request: 'a bound of the namespace',
  input: z.strictObject({
    calendar: calendarUses.describe('The calendars that must be open; !NAME: must be closed.').optional(),
    none: z.boolean().describe('Bound it by none. Default: false.').optional(),
  }),
  takes: [],
  output: z.strictObject({
    calendar: z.array(z.string()).readonly().describe('The calendars of the namespace.'),
    schedules: z.int().describe('How many schedules have other hours now.'),
  }),
  show: showApplied,
  errors: ['invalid'],
  examples: [{ calendar: ['office'] }, { calendar: ['office', '!night'] }, { none: true }],
  async judge({ store, actor }, { value: { calendar, none = false }, problems: found }) {
    const problems: Problem[] = [...found]
    if (problems.length === 0 && (calendar === undefined) !== none) {
      problems.push({
        field: 'calendar',
        problem: none ? 'is given beside `none`' : 'is missing',
        expected: 'one of the two',
      })
    }
    refuse('The bound of the namespace', problems)
    await store.do(applyToNamespace, [...(calendar ?? [])], { actor })
    const schedules = await takeEffect(store)
    return { calendar: await store.look(calendarsOfNamespace), schedules }
  },
})

async function present(context: OperationContext, name: string): Promise<CalendarRow> {
  return (await context.store.look(findCalendar, name)) ?? absentCalendar(context, name)
}

async function absentCalendar({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listCalendars, { limit: namesMax })).map((row) => row.name)
  throw absent('calendar', name, known, 'List calendars with `belfry calendar list`.')
}

export const calendarOperations = { put, get, list, delete: remove, test, revert, apply }
