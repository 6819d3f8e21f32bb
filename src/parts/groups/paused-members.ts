import type { Hold } from '../../core/hold.ts'
import type { HoldReason } from '../../core/hold-reason.ts'
import { groupPausedReason } from '../../core/schedule/group.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { nearest } from '../../operations/input/nearest-name.ts'
import { invalid } from '../../store/check.ts'
import { listGroups, lockGroupToJoin } from '../../store/groups/group-row.ts'
import { freeMember, holdMember, isInPause } from '../../store/groups/hold-members.ts'
import { both, clockNow, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

const findBefore = both(
  'group find before',
  'select group_name from belfry.schedule where ns = $1 and name = $2 and deleted_at is null',
)

/** The note of such a hold begins with the name of the group, which has no colon. */
const groupIn = ({ note }: Hold) => (note ?? '').split(':')[0] as string

export const groupPaused: HoldReason = {
  code: groupPausedReason,
  firing: 'waits',
  says: 'The group of the schedule is paused: nothing of it starts.',
  unblocks: 'Resume the group: `belfry group resume NAME`.',
  sentence: ({ note }) => `Paused by its group ${(note ?? '').replace(/[.\s]+$/, '')}.`,
  lift: (hold) => ({ what: 'Resume the group.', words: ['group', 'resume', groupIn(hold)] }),
}

/** In the transaction that writes a schedule: one that joins a paused group is held, and one that leaves it is not. */
export function* joinGroup(context: StoreContext, written: Partial<ScheduleSpec>): Step<void> {
  // The policy of a queue has no timing.
  if (written.timing === undefined) return
  const { name = '', group = null } = written
  const found = yield* one<{ group_name: string | null }>(findBefore, context.ns, name)
  const before = found?.group_name ?? null
  if (found !== undefined && before === group) return
  // The old group is locked too: while it is paused it must not put a hold on what is about to leave it.
  if (before !== null) yield* lockGroupToJoin(context, before)
  // Also of a new schedule: a pause may have met the deletion of the one that had its name.
  yield* freeMember(context, name)
  if (group === null) return
  const joined = yield* lockGroupToJoin(context, group)
  if (joined === null) throw yield* unknownGroup(context, group)
  const now = yield* clockNow()
  if (isInPause(joined.paused, now)) yield* holdMember(context, joined, name, now)
}

/** An unknown group is most often misspelt. */
function* unknownGroup(context: StoreContext, group: string): Step<Error> {
  const known = (yield* listGroups(context, { limit: 1_000 })).map(({ name }) => name)
  const meant = nearest(group, known)
  const create = `a group of \`belfry group list\`; create one with \`belfry group create\``
  const expected = meant === undefined ? create : `a known group, such as ${JSON.stringify(meant)}`
  return invalid('group', `names the group ${JSON.stringify(group)}, which does not exist`, expected)
}
