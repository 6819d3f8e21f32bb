import type { StorePart } from '../part.ts'
import { ground } from './0001-ground.ts'
import { timedAt } from './0002-timed-at.ts'
import { hosts } from './0003-hosts.ts'
import { tokens } from './0004-tokens.ts'
import { events } from './0005-events.ts'
import { doors } from './0006-doors.ts'
import { config } from './0007-config.ts'
import { notices } from './0009-notices.ts'
import { deletedQueues } from './0010-deleted-queues.ts'
import { lastEnds } from './0011-last-ends.ts'
import { madeAt } from './0012-made-at.ts'
import { deaths } from './0013-deaths.ts'
import { newestFirst } from './0014-newest-first.ts'
import type { Migration } from './migration.ts'

/** The kernel's own. */
const ofKernel: readonly Migration[] = [
  ground,
  timedAt,
  hosts,
  tokens,
  events,
  doors,
  config,
  notices,
  deletedQueues,
  lastEnds,
  madeAt,
  deaths,
  newestFirst,
]

/** Those of the kernel and of the parts, by their numbers. */
export function migrationsOf(parts: readonly StorePart[]): readonly Migration[] {
  const all = [...ofKernel, ...parts.flatMap(({ migrations = [] }) => migrations)]
  return all.sort((one, other) => one.version - other.version)
}
