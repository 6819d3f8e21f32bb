import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { removableWorktrees } from '../../../core/agent/workspace-kept.ts'
import { findRun } from '../../../store/reads/find-run.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { bytesIn, hasChanges, removeWorktree } from './worktree.ts'
import { forgetWorktree, listWorktrees, type WorktreeRow } from './worktree-rows.ts'

/** A worktree, with the state of its run and of its folder on this machine. */
export interface Worktree extends WorktreeRow {
  readonly isOver: boolean
  /** Whether its folder is gone. */
  readonly isGone: boolean
}

export interface Pruning {
  /** Remove only as many as it takes to get below this size. Default: all that may be removed. */
  readonly bytesMax?: number
  /** Whether worktrees with changes are removed too. */
  readonly withChanges?: boolean
}

export interface Pruned {
  readonly removed: readonly Worktree[]
  readonly kept: readonly Worktree[]
}

/** Removes worktrees of ended runs on this machine. */
export async function pruneWorktrees(store: KindStore, pruning: Pruning = {}): Promise<Pruned> {
  const here = (await worktreesIn(store)).filter(({ machine }) => machine === hostname())
  const known = here.map((each) => ({ ...each, bytes: each.bytes ?? 0 }))
  const gone = known.filter(({ isGone, isOver }) => isGone && isOver)
  const removed = [...gone, ...removableWorktrees(among(known, gone), pruning)]
  for (const { root, path, ...name } of removed) {
    await removeWorktree(root, path)
    await store.do(forgetWorktree, name)
  }
  return { removed, kept: among(known, removed) }
}

function among<Each>(all: readonly Each[], without: readonly Each[]): Each[] {
  return all.filter((each) => !without.includes(each))
}

export async function worktreesIn(store: KindStore): Promise<Worktree[]> {
  const found: Worktree[] = []
  for (const row of await store.look(listWorktrees)) found.push(await lookedAt(store, row))
  return found
}

async function lookedAt(store: KindStore, row: WorktreeRow): Promise<Worktree> {
  const run = await store.look(findRun, row.runId)
  const isOver = run === null || run.end !== null
  if (row.machine !== hostname()) return { ...row, isOver, isGone: false }
  const isGone = !(await isFolder(row.path))
  // The worker was lost before it could look for changes.
  const isUnseen = isOver && !isGone && row.leftAt === null
  if (!isUnseen) return { ...row, isOver, isGone }
  const changed = await hasChanges(row.path, row.base).catch(() => true)
  return { ...row, isOver, isGone, hasChanges: changed, bytes: await bytesIn(row.path) }
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
