/** Connects what this machine trusts with stores in files. */
import { statSync } from 'node:fs'
import { BelfryError } from './core/error.ts'
import { giveMark, type Mark, markDiffers, marksIn, ownMark } from './store/sqlite/mark.ts'
import { mayHaveComeWithTree } from './trust/tracked.ts'
import { treeOf } from './trust/tree.ts'

/** The file of a store, if it has one. */
export function fileOf(store: string): string | null {
  return /^sqlite:(.+)$/.exec(store)?.[1] ?? null
}

/**
 * Refuses to start programs from a store in a checked-out tree that may have come with it. A store that was created here has the
 * mark of this machine. A store without a mark was created by an earlier version or prepared by another person: it is adopted if
 * it belongs to this user and git does not track it. Outside checked-out trees a mark of another machine is accepted: a restored
 * backup and a moved volume have one. Returns a note for the user.
 */
export async function refuseUnmarkedStore(file: string): Promise<string | null> {
  const tree = treeOf(file)
  const marks = marksIn(file)
  if (tree === null && marks.length === 0) return null
  if (marks.length === 0 && (await isAdopted(file))) {
    return `The store ${file} had no mark and is now marked as created here: the file is yours, and git does not track it.`
  }
  const differs = differenceOf(marks, ownMark(file))
  if (differs === null) return null
  if (tree === null) return `The store ${file} ${differs}. If that is intended: belfry trust --store`
  const message = `The store ${file} is in the checked-out tree ${tree} and ${differs}.`
  throw new BelfryError('not-allowed', `${message} It starts no programs until you trust it.`, {
    hint: 'Check what it would start (belfry schedule list), then run: belfry trust --store',
    details: { store: file, tree },
  })
}

/** Whether a worker would be refused this store, checked without marking it. */
export async function needsTrust(file: string): Promise<boolean> {
  if (treeOf(file) === null) return false
  const marks = marksIn(file)
  if (marks.length === 0) return !(await isAdoptable(file))
  return differenceOf(marks, ownMark(file)) !== null
}

/** Why a store does not count as created here; `null` when one of its marks matches. */
function differenceOf(marks: readonly Mark[], own: Mark): string | null {
  const differences = marks.map((mark) => markDiffers(mark, own))
  if (differences.includes(null)) return null
  const last = differences.at(-1)
  return last === undefined ? 'may have come with it' : `was created ${last}`
}

async function isAdopted(file: string): Promise<boolean> {
  if (!(await isAdoptable(file))) return false
  giveMark(file)
  return true
}

async function isAdoptable(file: string): Promise<boolean> {
  const own = process.geteuid?.()
  if (own !== undefined && statSync(file).uid !== own) return false
  return !(await mayHaveComeWithTree(file))
}
