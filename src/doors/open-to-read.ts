import { closeSync, constants, fstatSync, openSync } from 'node:fs'

/** What the caller's own shell has opened for us, as `<(…)` does: somebody writes to it, or has. */
const handedOver = /^\/dev\/stdin$|^\/(dev|proc\/self)\/fd\/\d+$/

/**
 * Opens a file to read it, and never waits for a writer. A named pipe would keep the reader waiting for ever, and a device
 * may have no end, so that neither is opened, unless the path says that the caller handed it over.
 */
export function openToRead(path: string): number {
  if (handedOver.test(path)) return openSync(path, 'r')
  const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = fstatSync(handle)
  // What is wrong with reading a folder the system says itself.
  if (stats.isFile() || stats.isDirectory()) return handle
  closeSync(handle)
  throw new NoRegularFile(stats.isFIFO() ? 'is a named pipe' : 'is a device or a socket')
}

/** Something that has a path and no content of its own; the message is a clause after the path. */
export class NoRegularFile extends Error {}
