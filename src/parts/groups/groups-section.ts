import { z } from 'zod'
import type { GroupSpec } from '../../core/schedule/group.ts'
import { type ChangedEntry, type ConfigSection, type EntryWritten, writtenBy } from '../../operations/config-section.ts'
import { read } from '../../operations/input/read-input.ts'
import { deleteGroup, type GroupPatch, putGroup } from '../../store/groups/write-group.ts'
import { all, both, clockNow } from '../../store/statement.ts'
import { groupName } from './group-field.ts'
import { groupFields, readGroup } from './group-input.ts'
import { groupInUse } from './group-verbs.ts'

declare module '../../core/added.ts' {
  interface AddedToConfig {
    readonly groups: AddedType<readonly EntryWritten[], Record<string, unknown>>
  }
}

const findKept = both(
  'group find managed',
  'select name from belfry.schedule_group where ns = $1 and managed_by = $2 order by name',
)
const form = z.strictObject(groupFields)

export interface GroupEntry {
  readonly name: string
  readonly fields: GroupPatch
}

/** Groups in a config file. They are applied before the schedules that name them, and deleted after them. */
export const groupsSection: ConfigSection<GroupEntry, ChangedEntry<GroupSpec, string>> = {
  name: 'groups',
  says: 'Groups by name, each with the fields of group create.',
  names: groupName,
  isFirst: true,
  deletes: true,
  async reader({ store, zone }) {
    const now = await store.look(clockNow)
    return (name, given, problems) => {
      const { value, problems: found } = read(form, given ?? {}, 'a group')
      problems.push(...found)
      return { name, fields: readGroup(value, problems, { zone, now }) }
    }
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, { name, fields }) {
    const { answer, before, group } = yield* putGroup(context, name, fields, { actor, source, mode: 'put' })
    return { name, answer, before, after: group?.spec ?? null }
  },
  *leave({ context, source, actor }, name) {
    const gone = yield* deleteGroup(context, name, { actor, source })
    if (gone.answer === 'in-use') throw groupInUse(name, gone.members)
    return gone.answer === 'not-found' ? null : { name, answer: 'deleted', before: null, after: null }
  },
  written: writtenBy(),
}
