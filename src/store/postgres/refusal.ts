import { BelfryError } from '../../core/error.ts'

const serializationFailure = '40001'
const deadlockDetected = '40P01'

/** What the server calls it, or what the machine calls a connection that broke. */
export function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}

/** Two transactions met, and the server has rolled this one back. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === serializationFailure || code === deadlockDetected
}

/** The server has ended a session because it was silent for too long in the middle of a transaction. */
export function isSilence(error: unknown): boolean {
  return codeOf(error) === '25P03'
}

/** With these the server ends the connection, whatever the code: it shuts down, or a session was idle for too long. */
const lastWords: readonly unknown[] = ['FATAL', 'PANIC']

/**
 * An answer of the server itself, as against silence: classes 08 and 57P say that the connection is ending. Only what the
 * server says has a severity; the machine's own codes may look like its codes, as EPIPE does.
 */
export function isRefusal(error: unknown): boolean {
  const { severity } = (error ?? {}) as { severity?: unknown }
  const code = codeOf(error)
  if (severity === undefined || lastWords.includes(severity)) return false
  return code !== undefined && !code.startsWith('08') && !code.startsWith('57P')
}

/** The server could not do it now: a lock or statement timeout, no memory, no connection, or a read-only moment. */
export function isBusyServer(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return code === '55P03' || code === '57014' || code === '25006' || code.startsWith('53')
}

export function busyServer(place: string, error: Error): BelfryError {
  return new BelfryError('unavailable', `${place} could not do it now: ${error.message}; nothing was written.`, {
    hint: 'Try again; if it lasts, look at the server’s locks, memory and timeouts.',
    cause: error,
  })
}
