/** Joins what this machine trusts with the stores that lie in its files. */
import { statSync } from 'node:fs'
import { BelfryError } from './core/error.ts'
import { giveMark, type Mark, markDiffers, marksIn, ownMark } from './store/sqlite/mark.ts'
import { mayHaveComeWithTree } from './trust/tracked.ts'
import { treeOf } from './trust/tree.ts'

/** The file that a store lies in, if it lies in one. */
export function fileOf(store: string): string | null {
  return /^sqlite:(.+)$/.exec(store)?.[1] ?? null
}

/**
 * Refuses to start programs from a store that lies in a checked-out tree and may have come with it. One that was made here
 * bears the mark of this machine. One that bears none was made by an earlier version, or was prepared by another person:
 * it is adopted if it belongs to this user and did not come with the tree. Outside of trees a mark that does not fit is no reason to
 * refuse: a restored backup and a volume on another machine have one. Answers what the user should hear of a store that is used.
 */
export async function refuseUnmarkedStore(file: string): Promise<string | null> {
  const tree = treeOf(file)
  const marks = marksIn(file)
  if (tree === null && marks.length === 0) return null
  if (marks.length === 0 && (await isAdopted(file))) {
    return `The store ${file} had no mark and is now marked as made here: the file is yours, and git does not track it.`
  }
  const differs = differenceOf(marks, ownMark(file))
  if (differs === null) return null
  if (tree === null) return `The store ${file} ${differs}. If that is as it should be: belfry trust --store`
  const message = `The store ${file} lies in the checked-out tree ${tree} and ${differs}.`
  throw new BelfryError('not-allowed', `${message} It starts no programs before you trust it.`, {
    hint: 'Look at what it would start (belfry schedule list), then: belfry trust --store',
    details: { store: file, tree },
  })
}

/** Whether a worker would be refused this store, asked without giving it a mark. */
export async function needsTrust(file: string): Promise<boolean> {
  if (treeOf(file) === null) return false
  const marks = marksIn(file)
  if (marks.length === 0) return !(await isAdoptable(file))
  return differenceOf(marks, ownMark(file)) !== null
}

/** What keeps a store from being one that was made here; `null` where one of its marks says that it was. */
function differenceOf(marks: readonly Mark[], own: Mark): string | null {
  const differences = marks.map((mark) => markDiffers(mark, own))
  if (differences.includes(null)) return null
  const last = differences.at(-1)
  return last === undefined ? 'may have come with it' : `was made ${last}`
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
