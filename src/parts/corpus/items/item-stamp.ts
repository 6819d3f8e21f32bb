import { createHash } from 'node:crypto'

/** The parent of an item, and size, mtime and inode of its document and its files. */
export interface OnDisk {
  readonly parent: string | null
  /** The stat of the document; an item in the store has none. */
  readonly stat: string | undefined
  readonly files: readonly (readonly [name: string, stat: string])[]
}

/** A short text that changes as soon as any of these values changes. */
export function stampOf({ parent, stat, files }: OnDisk): string | null {
  if (stat === undefined || stat === '') return null
  const names = files.map(([name, of]) => `${name}\0${of}`).sort()
  return createHash('sha256')
    .update([parent ?? '', stat, ...names].join('\n'))
    .digest('base64url')
    .slice(0, 22)
}
