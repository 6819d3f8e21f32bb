import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { pageByName, reason } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { patched } from '../../operations/fields/patch.ts'
import { durationFields, durationOf } from '../../operations/input/duration-input.ts'
import { instant, over } from '../../operations/input/instant.ts'
import { type Problem, quoted, refuse } from '../../operations/input/refuse-input.ts'
import { behindLast } from '../../operations/next-page.ts'
import { absent, namesMax } from '../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { plainText } from '../../operations/schedule/plain-text.ts'
import { flag, freedName } from '../../operations/schema/output-schema.ts'
import { deleted } from '../../operations/show.ts'
import { findGroup, type GroupRow, listGroups, memberCounts, memberNames } from '../../store/groups/group-row.ts'
import {
  deleteGroup,
  type GroupChange,
  type GroupPatch,
  pauseGroup,
  putGroup,
  resumeGroup,
} from '../../store/groups/write-group.ts'
import { awaitLeases } from '../../store/holds/await-leases.ts'
import { clockNow } from '../../store/statement.ts'
import {
  type Group,
  groupAnswer,
  groupPutSchema,
  groupSchema,
  groupShown,
  groupShownSchema,
  groupsShown,
  showPut,
} from './group-answer.ts'
import { groupName } from './group-field.ts'
import { groupFields, readGroup } from './group-input.ts'

/** The description steers planners, and window and autonomy bound them, so planners may not write these fields. */
const people: Doors = {
  ...everyDoor,
  mcp: 'Only a person writes, pauses or resumes a group; a model reads groups, and pauses single schedules.',
}
const changing = { noun: 'group', effect: 'write', scope: 'operate', doors: people, persons: true } as const
const looking = { noun: 'group', effect: 'read', scope: 'read', doors: everyDoor } as const
const named = z.strictObject({ name: groupName })

export const create = operation({
  ...changing,
  verb: 'create',
  method: 'POST',
  begins: true,
  rehearses: true,
  says: 'Create a group of schedules; refuses an existing one with other fields.',
  request: 'a group',
  input: z.strictObject({ name: groupName, ...groupFields }),
  takes: ['name'],
  output: groupPutSchema,
  show: showPut,
  errors: ['invalid', 'conflict'],
  examples: [
    { name: 'checkout', description: 'Flash sales: protect the database first.' },
    { name: 'nightly', autonomy: 'off', window: '* 8-19 * * 1-5' },
  ],
  judge: (context, { value, problems }) => write(context, value, { problems: [...problems], mode: 'create' }),
})

export const update = operation({
  ...changing,
  verb: 'update',
  method: 'PATCH',
  idempotent: true,
  rehearses: true,
  says: 'Change a group; a field that is not given stays.',
  request: 'a change of a group',
  input: z.strictObject({ name: groupName, ...patched(groupFields) }),
  takes: ['name'],
  output: groupPutSchema,
  show: showPut,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [
    { name: 'checkout', autonomy: 'suggest' },
    { name: 'checkout', window: null },
  ],
  judge: (context, { value, problems }) => write(context, value, { problems: [...problems], mode: 'update' }),
})

interface Writing {
  readonly problems: Problem[]
  readonly mode: GroupChange['mode']
}

async function write(
  context: OperationContext,
  { name: given, ...value }: { readonly name?: string | undefined },
  { problems, mode }: Writing,
) {
  const { store, actor, zone } = context
  const now = await store.look(clockNow)
  const patch: GroupPatch = readGroup(value, problems, { zone, now })
  refuse(given === undefined ? 'The group' : `Group ${quoted(given)}`, problems)
  const name = given as string
  const { answer, group } = await store.do(putGroup, name, patch, { actor, mode })
  if (answer === 'not-found') return absentGroup(context, name)
  if (answer === 'exists') {
    throw new BelfryError('conflict', `Group ${quoted(name)} exists with other fields.`, {
      hint: `Change it with \`belfry group update ${name}\`.`,
      details: { group: name },
    })
  }
  return { answer, group: await answered(context, group as GroupRow) }
}

export const get = operation({
  ...looking,
  verb: 'get',
  method: 'GET',
  command: ['group', 'show'],
  says: 'Show a group with its members.',
  request: 'a request for a group',
  input: named,
  takes: ['name'],
  output: groupShownSchema,
  show: groupShown,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'checkout' }],
  async run(context, { name }) {
    const row = (await context.store.look(findGroup, name)) ?? (await absentGroup(context, name))
    const schedules = (await context.store.look(memberNames, name)).slice(0, namesMax)
    return { ...(await answered(context, row)), schedules }
  },
})

export const list = operation({
  ...looking,
  verb: 'list',
  method: 'GET',
  says: 'List groups by name, a page at a time.',
  request: 'a list of groups',
  input: z.strictObject(pageByName),
  takes: [],
  output: z.array(groupSchema),
  show: groupsShown,
  errors: ['invalid'],
  examples: [{}, { after: 'a', limit: 20 }],
  nextPage: behindLast<Group>(({ name }) => ({ after: name })),
  async run({ store }, page) {
    const rows = await store.look(listGroups, onlyGiven(page))
    const names = rows.map(({ name }) => name)
    const [counts, now] = [await store.look(memberCounts, names), await store.look(clockNow)]
    return rows.map((row) => groupAnswer(row, counts.get(row.name) ?? 0, now))
  },
})

export const pause = operation({
  ...changing,
  verb: 'pause',
  idempotent: true,
  says: 'Pause a group: nothing of its members starts, also of later ones; running runs finish.',
  request: 'a pause of a group',
  input: z.strictObject({
    name: groupName,
    until: instant.describe('When the pause ends by itself.').optional(),
    ...durationFields('for', 'How long the pause lasts, instead of until.'),
    reason: reason.optional(),
  }),
  takes: ['name'],
  output: groupSchema,
  show({ name, members, paused }, sheet) {
    const resumed = `until it is resumed: ${sheet.command('group', 'resume', name)}`
    const end = paused?.until == null ? resumed : `until ${sheet.when(paused.until)}`
    return `paused group ${plainText(name)} with ${members} ${members === 1 ? 'schedule' : 'schedules'} ${end}`
  },
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'checkout' }, { name: 'checkout', for: '1h', reason: 'The database is moved.' }],
  async judge(context, { given, value, problems: found }) {
    const { store, actor } = context
    const problems: Problem[] = [...found]
    const forMs = durationOf(value, 'for', problems)
    if (given.until !== undefined && forMs !== undefined) {
      problems.push({ field: 'until', problem: 'is given beside `for`', expected: 'only one of the two' })
    }
    const now = await store.look(clockNow)
    const until = forMs === undefined ? value.until : now + forMs
    if (until !== undefined && until <= now) problems.push(over('until', until, now))
    refuse('The pause', problems)
    const name = value.name as string
    const options = { until: until ?? null, reason: value.reason ?? null, actor }
    const answer = await store.do(pauseGroup, name, options)
    if (answer.answer === 'not-found') return absentGroup(context, name)
    // When it returns, no lease is under way that has not seen the holds.
    await store.do(awaitLeases)
    return groupAnswer(answer.group, answer.members, now)
  },
})

export const resume = operation({
  ...changing,
  verb: 'resume',
  idempotent: true,
  says: 'End the pause of a group; members that are paused by themselves stay paused.',
  request: 'a resumption of a group',
  input: named,
  takes: ['name'],
  output: z.strictObject({ resumed: flag('Whether it was paused.'), group: groupSchema }),
  show: ({ resumed, group }) => `${resumed ? 'resumed' : 'was not paused:'} group ${plainText(group.name)}`,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'checkout' }],
  async run(context, { name }) {
    const answer = await context.store.do(resumeGroup, name, { actor: context.actor })
    if (answer.answer === 'not-found') return absentGroup(context, name)
    const now = await context.store.look(clockNow)
    return { resumed: answer.answer === 'resumed', group: groupAnswer(answer.group, answer.members, now) }
  },
})

export const remove = operation({
  ...changing,
  verb: 'delete',
  method: 'DELETE',
  idempotent: true,
  asksFirst: true,
  effect: 'destructive',
  rehearses: true,
  says: 'Delete a group that no schedule belongs to.',
  request: 'a deletion of a group',
  input: named,
  takes: ['name'],
  output: freedName,
  show: ({ name }, sheet) => deleted(`group ${plainText(name)}`, sheet),
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'checkout' }],
  async run(context, { name }) {
    const answer = await context.store.do(deleteGroup, name, { actor: context.actor })
    if (answer.answer === 'in-use') throw groupInUse(name, answer.members)
    return answer.answer === 'deleted' ? { name, deleted: true as const } : absentGroup(context, name)
  },
})

const membersNamedMax = 5

export function groupInUse(name: string, members: readonly string[]): BelfryError {
  const more = members.length > membersNamedMax ? ` and ${members.length - membersNamedMax} more` : ''
  const who = members.slice(0, membersNamedMax).join(', ')
  return new BelfryError(
    'conflict',
    `Group ${quoted(name)} has ${members.length} ${members.length === 1 ? 'member' : 'members'}: ${who}${more}.`,
    {
      hint: 'Delete these schedules, or put them into another group or none, first.',
      details: { group: name, members: members.slice(0, 100) },
    },
  )
}

async function answered({ store }: OperationContext, row: GroupRow): Promise<Group> {
  const counts = await store.look(memberCounts, [row.name])
  return groupAnswer(row, counts.get(row.name) ?? 0, await store.look(clockNow))
}

async function absentGroup({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listGroups, { limit: namesMax })).map((row) => row.name)
  throw absent('group', name, known, 'List groups with `belfry group list`.')
}

export const groupOperations = { create, update, get, list, pause, resume, delete: remove }
