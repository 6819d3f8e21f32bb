import { BelfryError } from '../../core/error.ts'

const serializationFailure = '40001'
const deadlockDetected = '40P01'

/** The server's error code, or the system's code of a broken connection. */
export function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}

/** Two transactions conflicted, and the server rolled this one back. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === serializationFailure || code === deadlockDetected
}

/** The server ended a session that was idle in a transaction for too long. */
export function isSilence(error: unknown): boolean {
  return codeOf(error) === '25P03'
}

/** With these severities the server ends the connection, whatever the code. */
const lastWords: readonly unknown[] = ['FATAL', 'PANIC']

/**
 * The server itself refused, as opposed to a lost connection: classes 08 and 57P mean that the connection is ending. Only server
 * errors have a severity; system codes such as EPIPE may look like server codes.
 */
export function isRefusal(error: unknown): boolean {
  const { severity } = (error ?? {}) as { severity?: unknown }
  const code = codeOf(error)
  if (severity === undefined || lastWords.includes(severity)) return false
  return code !== undefined && !code.startsWith('08') && !code.startsWith('57P')
}

/** The server could not do it now: a lock or statement timeout, no memory, no connection slot, or read-only mode. */
export function isBusyServer(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return code === '55P03' || code === '57014' || code === '25006' || code.startsWith('53')
}

export function busyServer(place: string, error: Error): BelfryError {
  return new BelfryError('unavailable', `${place} could not do it now: ${error.message}; nothing was written.`, {
    hint: 'Try again; if it lasts, check the server’s locks, memory and timeouts.',
    cause: error,
  })
}
