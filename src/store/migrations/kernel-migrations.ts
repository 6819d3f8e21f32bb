import { stopsEverywhere } from '../holds/0070-stops-everywhere.ts'
import type { StorePart } from '../part.ts'
import { ground } from './0001-ground.ts'
import { timedAt } from './0002-timed-at.ts'
import { hosts } from './0003-hosts.ts'
import { tokens } from './0004-tokens.ts'
import { events } from './0005-events.ts'
import { doors } from './0006-doors.ts'
import { config } from './0007-config.ts'
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
import { authors } from './0038-authors.ts'
import { groups } from './0039-groups.ts'
import { statesAndCallers } from './0061-states-and-callers.ts'
import { newestVersion } from './migrate.ts'
import type { Migration } from './migration.ts'

const ofKernel: readonly Migration[] = [
  ground,
  timedAt,
  hosts,
  tokens,
  events,
  doors,
  config,
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
  authors,
  groups,
  statesAndCallers,
  stopsEverywhere,
]

/** The migrations of the kernel and of the parts, by number. */
export function migrationsOf(parts: readonly StorePart[]): readonly Migration[] {
  const all = [...ofKernel, ...parts.flatMap(({ migrations = [] }) => migrations)]
  return all.sort((one, other) => one.version - other.version)
}

/** The newest known schema version, even if the part with that migration is left out. */
export function newestKnown(parts: readonly StorePart[]): number {
  return Math.max(newestVersion(migrationsOf(parts)), ...parts.flatMap(({ versions = [] }) => versions))
}
