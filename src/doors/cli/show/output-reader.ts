import { BelfryError } from '../../../core/error.ts'

interface Stream {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
}

/** Whoever reads what is written, who may go away first: `belfry run list | head -1`. */
export interface Reader {
  readonly isGone: boolean
  /** Comes when the reader has gone, which may be never. */
  readonly gone: Promise<void>
  /** Refuses to go on as if all had been written, where the disk was full. */
  refuseLoss(): Promise<void>
}

/**
 * Listens for writes that fail. A reader who has gone has seen what he wanted, so that nothing is said of it; without a
 * listener the process would end with a stack trace, and a worker would drop what it holds.
 */
export function readerOf(streams: readonly Stream[]): Reader {
  let isGone = false
  let lost: NodeJS.ErrnoException | null = null
  let tell: () => void = () => undefined
  const gone = new Promise<void>((resolve) => {
    tell = resolve
  })
  const heard = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') lost ??= error
    isGone = true
    tell()
  }
  // For as long as the process lives: what was written last may fail after all is done.
  for (const stream of streams) stream.on('error', heard)
  return {
    get isGone() {
      return isGone
    },
    gone,
    async refuseLoss() {
      // A write that fails says so a turn of the event loop later.
      await new Promise(setImmediate)
      if (lost === null) return
      throw new BelfryError('failure', `What was to be told could not be written: ${lost.message}.`, { cause: lost })
    },
  }
}
