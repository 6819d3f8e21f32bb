import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { isWorkspaceKept, type Keep, type WorkspaceEnd } from '../../../core/agent/workspace-kept.ts'
import { BelfryError } from '../../../core/error.ts'
import type { Attempt } from '../../../targets/attempt.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { isFolder, pruneWorktrees } from './prune-worktrees.ts'
import { addWorktree, bytesIn, checkoutRoot, commitOf, hasChanges, removeWorktree } from './worktree.ts'
import { forgetWorktree, keepWorktree, leaveWorktree, type WorktreeRow, worktreeOf } from './worktree-rows.ts'

/** The largest total size of the worktrees of one machine. */
const worktreesBytesMax = 20 * 1024 ** 3

/** Where an attempt works. */
export interface Workspace {
  readonly cwd: string
  /** Whether the workspace is as an earlier attempt of the run left it. */
  readonly isContinued: boolean
  /** Called once, after the last process of the attempt has ended. */
  leave(end: WorkspaceEnd): Promise<void>
}

export interface WorktreeWanted {
  /** The folder in the checkout that the worktree is made from. */
  readonly cwd: string
  readonly ref?: string | undefined
  readonly keep?: Keep | undefined
  /** Whether the attempt continues a session, in the worktree of that session. */
  readonly isResumed: boolean
}

/** A worktree for one attempt: a new one, or the one in which an interrupted attempt worked. */
export async function openWorktree(store: KindStore, attempt: Attempt, wanted: WorktreeWanted): Promise<Workspace> {
  const { cwd, keep = 'changed', isResumed } = wanted
  if (!(await isFolder(cwd))) throw missing(cwd)
  const before = isResumed ? await store.look(worktreeOf, attempt.runId, hostname()) : null
  const isContinued = before !== null && (await isFolder(before.path))
  const root = await checkoutRoot(cwd)
  const row = isContinued ? before : await madeWorktree(store, attempt, { ...wanted, root })
  return {
    cwd: join(row.path, relative(root, await realpath(cwd))),
    isContinued,
    leave: (end) => leftWorktree(store, attempt, { row, keep, end }),
  }
}

function missing(cwd: string): BelfryError {
  return new BelfryError('unavailable', `The working folder ${cwd} does not exist; no folder is made for an agent.`)
}

async function madeWorktree(
  store: KindStore,
  { runId, fence, claimId, clock }: Attempt,
  { ref = 'HEAD', root }: WorktreeWanted & { readonly root: string },
): Promise<WorktreeRow> {
  await makeRoom(store)
  const base = await commitOf(root, ref)
  const folder = await worktreesFolder(store, root)
  const path = join(folder, fence === 1 ? runId : `${runId}-${fence}`)
  // Another store may have worktrees in the same folder.
  const free = (await isFolder(path)) ? `${path}-${claimId.slice(0, 8)}` : path
  const made = { machine: hostname(), path: free, root, base, madeAt: clock.now() }
  if (!(await store.do(keepWorktree, { runId, fence }, made))) {
    throw new BelfryError('unavailable', 'Its lease was lost before its worktree was made.')
  }
  try {
    await addWorktree(root, free, base)
  } catch (error) {
    await store.do(forgetWorktree, { runId, fence })
    throw error
  }
  return { runId, fence, ...made, leftAt: null, hasChanges: null, bytes: null }
}

/** Old worktrees without changes are removed first. If worktrees with changes are too large by themselves, a person decides. */
async function makeRoom(store: KindStore): Promise<void> {
  const { kept } = await pruneWorktrees(store, { bytesMax: worktreesBytesMax })
  const bytes = kept.reduce((sum, each) => sum + (each.bytes ?? 0), 0)
  if (bytes <= worktreesBytesMax) return
  throw new BelfryError('unavailable', `The worktrees of this machine take ${Math.round(bytes / 1024 ** 3)} GB.`, {
    hint: 'Look at them with `belfry workspace list`, and remove them with `belfry workspace prune --changed`.',
  })
}

/** The folder is beside the store; if the store is not a file, it is in the checkout, where git ignores it. */
async function worktreesFolder({ place }: KindStore, root: string): Promise<string> {
  const folder = join(isAbsolute(place) ? dirname(place) : join(root, '.belfry'), 'worktrees')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, '.gitignore'), '*\n')
  return folder
}

interface Leaving {
  readonly row: WorktreeRow
  readonly keep: Keep
  readonly end: WorkspaceEnd
}

async function leftWorktree(store: KindStore, { clock }: Attempt, { row, keep, end }: Leaving): Promise<void> {
  const { root, path, base, runId, fence } = row
  // A worktree that cannot be read may have changes.
  const changed = await hasChanges(path, base).catch(() => true)
  if (isWorkspaceKept({ keep, end, hasChanges: changed })) {
    const bytes = await bytesIn(path)
    await store.do(leaveWorktree, { runId, fence }, { at: clock.now(), hasChanges: changed, bytes })
    return
  }
  await removeWorktree(root, path)
  await store.do(forgetWorktree, { runId, fence })
}
