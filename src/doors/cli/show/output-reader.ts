import { BelfryError } from '../../../core/error.ts'

interface Stream {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
}

/** The reader of our output, which may close first: `belfry run list | head -1`. */
export interface Reader {
  readonly isGone: boolean
  /** Resolves when the reader has closed, which may be never. */
  readonly gone: Promise<void>
  /** Throws when output was lost, for example on a full disk. */
  refuseLoss(): Promise<void>
}

/** Listens for failed writes. A reader that has closed has seen enough, so that is not reported; without a listener the process would end with a stack trace, and a worker would drop its runs. */
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
  // Kept for the life of the process: the last write may fail after everything else is done.
  for (const stream of streams) stream.on('error', heard)
  return {
    get isGone() {
      return isGone
    },
    gone,
    async refuseLoss() {
      // A failed write is reported one turn of the event loop later.
      await new Promise(setImmediate)
      if (lost === null) return
      throw new BelfryError('failure', `The output could not be written: ${lost.message}.`, { cause: lost })
    },
  }
}
