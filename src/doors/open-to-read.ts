import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** A descriptor that the caller's shell opened for us, as `<(…)` does: it has a writer. */
const handedOver = /^\/dev\/stdin$|^\/(dev|proc\/self)\/fd\/\d+$/

/** Opens a file to read it, and never waits for a writer: a named pipe could block for ever, and a device may have no end. Both are refused, unless the path shows that the caller's shell passed it. */
export function openToRead(path: string): number {
  if (handedOver.test(path)) return openSync(path, 'r')
  const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (isOwn(path) ? constants.O_NOFOLLOW : 0))
  const stats = fstatSync(handle)
  // For a folder the operating system's own error is clear.
  if (stats.isFile() || stats.isDirectory()) return handle
  closeSync(handle)
  throw new NoRegularFile(stats.isFIFO() ? 'is a named pipe' : 'is a device or a socket')
}

/** A link in Belfry's own folder is refused: it would bring in a file that no person has checked. */
function isOwn(path: string): boolean {
  return basename(dirname(path)) === '.belfry'
}

/** A path without content of its own; the message is a clause after the path. */
export class NoRegularFile extends Error {}
