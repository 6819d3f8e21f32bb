import { z } from 'zod'
import { autonomies } from '../../core/schedule/group.ts'
import { plainText } from '../../operations/schedule/plain-text.ts'
import { type AnswerOf, count, instantOutput, text } from '../../operations/schema/output-schema.ts'
import { type Column, indented, type Listing, type Sheet, written } from '../../operations/show.ts'
import type { GroupRow } from '../../store/groups/group-row.ts'
import { isInPause } from '../../store/groups/hold-members.ts'

const shape = {
  name: text('The name of the group.'),
  description: text('What its members are for.').nullable(),
  autonomy: z
    .enum(autonomies)
    .nullable()
    .describe('How far a planner may go with members that have no autonomy of their own.'),
  window: text('The minutes that are open to hints, as a cron expression.').nullable(),
  members: count('How many schedules belong to it.'),
  paused: z
    .strictObject({
      at: instantOutput('When it was paused.'),
      until: instantOutput('When the pause ends by itself.').nullable(),
      reason: text('Why.').nullable(),
      by: text('Who paused it.'),
    })
    .nullable()
    .describe('The pause of the group; a member may be paused by itself too.'),
  managedBy: text('The config file that manages it.').nullable(),
  createdAt: instantOutput('When it was created.'),
  updatedAt: instantOutput('When it was changed last.'),
}
export const groupSchema = z.strictObject(shape).describe('The group.')
export type Group = AnswerOf<typeof groupSchema>

export const groupShownSchema = z.strictObject({
  ...shape,
  schedules: z.array(z.string()).describe('The names of its members; of many, the first thousand.'),
})

export const groupPutSchema = z.strictObject({
  answer: z.enum(['created', 'updated', 'unchanged']).describe('The result of the write.'),
  group: groupSchema,
})

export function groupAnswer(row: GroupRow, members: number, now: number): Group {
  const { name, spec, paused, managedBy, createdAt, updatedAt } = row
  const { description = null, autonomy = null, window = null } = spec
  const pause = isInPause(paused, now) ? paused : null
  return { name, description, autonomy, window, members, paused: pause, managedBy, createdAt, updatedAt }
}

export function pauseWords({ paused }: Pick<Group, 'paused'>, { when, paint }: Sheet): string | null {
  if (paused === null) return null
  const end = paused.until === null ? '' : ` until ${when(paused.until)}`
  const why = paused.reason === null ? '' : `: ${plainText(paused.reason)}`
  return paint.yellow(`paused${end} by ${plainText(paused.by)}${why}`)
}

const facts: readonly Column<Group>[] = [
  ['description', 'description', 'long'],
  ['members', 'members', 'count'],
  ['autonomy', 'autonomy', 'text'],
  ['window', 'window', 'text'],
  ['state', pauseWords],
  ['managed-by', 'managedBy', 'text'],
]

export const groupShown = {
  head: ({ name }: Group, { paint }: Sheet) => paint.bold(plainText(name)),
  facts,
  below: ({ schedules }: AnswerOf<typeof groupShownSchema>) =>
    schedules.map((each) => `  ${plainText(each)}`).join('\n'),
}

export const groupsShown: Listing<readonly Group[], Group> = {
  none: 'No groups.',
  columns: [
    ['GROUP', 'name', 'name'],
    ['MEMBERS', 'members', 'count'],
    ['AUTONOMY', 'autonomy', 'text'],
    ['WINDOW', 'window', 'text'],
    ['STATE', pauseWords],
    ['DESCRIPTION', 'description', 'short'],
  ],
}

export function showPut({ answer, group }: AnswerOf<typeof groupPutSchema>, sheet: Sheet): string {
  return `${written(answer, sheet)} group ${plainText(group.name)}\n${indented(sheet.facts(facts, group))}`
}
