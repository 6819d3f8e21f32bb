import { formatId } from '../../../core/id.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import type { LeaseName } from '../../../store/port.ts'
import { all, both, one, type Row, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

const columns = 'run_id, fence, machine, path, root, base, made_at, left_at, has_changes, bytes'
/** The row is written before the worktree is made, and only under the lease, so that no worktree exists without a row. */
const keep = both(
  'worktree keep',
  `insert into belfry.agent_worktree (run_id, fence, ns, machine, path, root, base, made_at)
    select run_id, fence, ns, $4, $5, $6, $7, $8 from belfry.lease where run_id = $1 and fence = $2 and ns = $3
    returning run_id`,
)
const findOfRun = both(
  'worktree find of run',
  `select ${columns} from belfry.agent_worktree where run_id = $1 and ns = $2 and machine = $3 order by fence desc limit 1`,
)
const findAll = both(
  'worktree find all',
  `select ${columns} from belfry.agent_worktree where ns = $1 order by made_at desc, run_id desc limit 1000`,
)
const findKept = both(
  'worktree find kept',
  'select fence, path from belfry.agent_worktree where run_id = $1 and ns = $2 and left_at is not null limit 1000',
)
const leave = both(
  'worktree leave',
  'update belfry.agent_worktree set left_at = $4, has_changes = $5, bytes = $6 where run_id = $1 and fence = $2 and ns = $3',
)
const forget = both('worktree forget', 'delete from belfry.agent_worktree where run_id = $1 and fence = $2 and ns = $3')

export interface WorktreeMade {
  readonly machine: string
  readonly path: string
  /** The checkout that the worktree was made from. */
  readonly root: string
  /** The commit that the worktree started from. */
  readonly base: string
  readonly madeAt: number
}

export interface WorktreeRow extends WorktreeMade, LeaseName {
  readonly leftAt: number | null
  readonly hasChanges: boolean | null
  readonly bytes: number | null
}

export function* keepWorktree({ ns }: StoreContext, name: LeaseName, made: WorktreeMade): Step<boolean> {
  const { machine, path, root, base, madeAt } = made
  return (yield* one(keep, runIdOf(name), name.fence, ns, machine, path, root, base, madeAt)) !== undefined
}

/** The newest worktree of a run on a machine. */
export function* worktreeOf({ ns }: StoreContext, runId: string, machine: string): Step<WorktreeRow | null> {
  const row = yield* one(findOfRun, runIdOf({ runId }), ns, machine)
  return row === undefined ? null : rowOf(row)
}

/** The folders of the worktrees that are kept for the attempts of a run, by their fences. */
export function* keptFor({ ns }: StoreContext, runId: string): Step<Map<number, string>> {
  const rows = yield* all<{ fence: number; path: string }>(findKept, runIdOf({ runId }), ns)
  return new Map(rows.map(({ fence, path }) => [fence, path]))
}

export function* listWorktrees({ ns }: StoreContext): Step<WorktreeRow[]> {
  return (yield* all(findAll, ns)).map(rowOf)
}

export function* leaveWorktree(
  { ns }: StoreContext,
  name: LeaseName,
  { at, hasChanges, bytes }: { readonly at: number; readonly hasChanges: boolean; readonly bytes: number },
): Step<void> {
  yield* run(leave, runIdOf(name), name.fence, ns, at, hasChanges ? 1 : 0, bytes)
}

export function* forgetWorktree({ ns }: StoreContext, name: LeaseName): Step<void> {
  yield* run(forget, runIdOf(name), name.fence, ns)
}

function rowOf(row: Row): WorktreeRow {
  return {
    runId: formatId('run', row.run_id as number),
    fence: row.fence as number,
    machine: row.machine as string,
    path: row.path as string,
    root: row.root as string,
    base: row.base as string,
    madeAt: row.made_at as number,
    leftAt: row.left_at as number | null,
    hasChanges: row.has_changes === null ? null : row.has_changes === 1,
    bytes: row.bytes as number | null,
  }
}
