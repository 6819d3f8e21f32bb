import { accessSync, constants, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { Corpus } from '../corpus-row.ts'
import { metaFolder } from './document-file.ts'

/** A file in the root that names its corpus: the same path on another machine may be another folder. */
const markName = 'corpus.json'

export interface RootMark {
  readonly id: string
  readonly name: string
}

function markPath(root: string): string {
  return join(root, metaFolder, markName)
}

export function readMark(root: string): RootMark | null {
  try {
    const mark: unknown = JSON.parse(readFileSync(markPath(root), 'utf8'))
    return isRecord(mark) && typeof mark.id === 'string' ? { id: mark.id, name: String(mark.name) } : null
  } catch {
    return null
  }
}

function writeMark(root: string, mark: RootMark): void {
  mkdirSync(join(root, metaFolder), { recursive: true })
  writeFileSync(markPath(root), `${JSON.stringify(mark)}\n`)
}

/** Marks the root of a corpus as its own, once the corpus is in the store. A root that has a mark keeps it. */
export function markRoot({ name, rootId, spec: { root } }: Pick<Corpus, 'name' | 'rootId' | 'spec'>): void {
  if (root !== null && folderProblem(root) === null && readMark(root) === null) writeMark(root, { id: rootId, name })
}

/** Removes the mark, so that the root of a deleted corpus is free for another corpus. */
export function removeMark(root: string | null): void {
  if (root !== null) rmSync(markPath(root), { force: true })
}

/** Why this process cannot work on the root of a corpus, as a clause; null if it can. */
export function rootProblem({ spec: { root }, rootId }: Pick<Corpus, 'spec' | 'rootId'>): string | null {
  if (root === null) return null
  const problem = folderProblem(root)
  if (problem !== null) return problem
  const mark = readMark(root)
  if (mark === null) return `has no ${metaFolder}/${markName}, so that it may be another folder of that name`
  return mark.id === rootId ? null : `belongs to another corpus, ${mark.name}`
}

/** Why a folder cannot be a root. */
export function folderProblem(root: string): string | null {
  try {
    if (!statSync(root).isDirectory()) return 'is no folder'
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'does not exist here' : `cannot be read and written (${code})`
  }
}

/** The mark of a folder above a root. A root must not lie inside another root. */
function markAbove(root: string): { readonly root: string; readonly mark: RootMark } | null {
  let folder = dirname(realpathSync(root))
  for (let above = dirname(folder); ; folder = above, above = dirname(above)) {
    const mark = readMark(folder)
    if (mark !== null) return { root: folder, mark }
    if (above === folder) return null
  }
}

/** Refuses a root that another corpus has, or that lies in the root of another one. */
export function refuseForeignRoot({ root }: Pick<Corpus['spec'], 'root'>, rootId: string): void {
  if (root === null) return
  const mark = readMark(root)
  const above = mark === null ? markAbove(root) : null
  if ((mark === null || mark.id === rootId) && above === null) return
  const what =
    above === null ? `belongs to corpus ${mark?.name}` : `lies in ${above.root}, the root of corpus ${above.mark.name}`
  throw new BelfryError('conflict', `The root ${root} ${what}.`, {
    hint: 'Choose another folder, or remove .meta/corpus.json there if that corpus is gone.',
    details: { root, id: mark?.id ?? above?.mark.id },
  })
}
