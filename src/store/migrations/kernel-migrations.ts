import type { StorePart } from '../part.ts'
import { ground } from './0001-ground.ts'
import { timedAt } from './0002-timed-at.ts'
import { tokens } from './0004-tokens.ts'
import { events } from './0005-events.ts'
import { doors } from './0006-doors.ts'
import { deletedQueues } from './0010-deleted-queues.ts'
import { lastEnds } from './0011-last-ends.ts'
import { madeAt } from './0012-made-at.ts'
import { deaths } from './0013-deaths.ts'
import { newestFirst } from './0014-newest-first.ts'
import { holds } from './0016-holds.ts'
import { lanes } from './0018-lanes.ts'
import { switches } from './0019-switches.ts'
import { calendars } from './0020-calendars.ts'
import { finished } from './0023-finished.ts'
import { reserving } from './0024-reserving.ts'
import type { Migration } from './migration.ts'

const ofKernel: readonly Migration[] = [
  ground,
  timedAt,
  tokens,
  events,
  doors,
  deletedQueues,
  lastEnds,
  madeAt,
  deaths,
  newestFirst,
  holds,
  lanes,
  switches,
  finished,
  calendars,
  reserving,
]

/** The migrations of the kernel and of the parts, by number. */
export function migrationsOf(parts: readonly StorePart[]): readonly Migration[] {
  const all = [...ofKernel, ...parts.flatMap(({ migrations = [] }) => migrations)]
  return all.sort((one, other) => one.version - other.version)
}
