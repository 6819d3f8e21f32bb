import { groupPausedReason } from '../../core/schedule/group.ts'
import type { Part } from '../../part.ts'
import { groupField } from './group-field.ts'
import { groupOperations } from './group-verbs.ts'
import { groupsSection } from './groups-section.ts'
import { groupPaused, joinGroup } from './paused-members.ts'

/** Groups: schedules that belong together, with a description, an autonomy, a window and a pause of their own. */
export const groups = {
  name: 'groups',
  fields: { schedule: { group: groupField } },
  written: joinGroup,
  holdReasons: { [groupPausedReason]: groupPaused },
  config: [groupsSection],
  nouns: {
    group: {
      says: 'Groups of schedules: siblings with a description, an autonomy and a pause of their own.',
      plural: 'groups',
      operations: groupOperations,
      otherWords: {
        groups: 'group list',
        'group ls': 'list',
        'group add': 'create',
        'group put': 'create',
        'group set': 'update',
        'group edit': 'update',
        'group rm': 'delete',
        'group remove': 'delete',
        'group stop': 'pause',
        'group start': 'resume',
      },
    },
  },
} as const satisfies Part
