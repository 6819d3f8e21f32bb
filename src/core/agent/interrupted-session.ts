/** An attempt of a run as the next one sees it. */
export interface EarlierAttempt {
  readonly outcome: string
  readonly profile?: string | null | undefined
  readonly sessionId?: string | null | undefined
}

/** Ends by which an agent was interrupted in the middle of its work. */
const interrupted: ReadonlySet<string> = new Set(['lost', 'forced-stop', 'unknown', 'deferred'])

/**
 * The session that the next attempt continues, from the earlier attempts, newest first. An attempt that began nothing is ignored.
 * After a failure no session is continued, because the cause of the failure is in the session.
 */
export function interruptedSession(earlier: readonly EarlierAttempt[], profile: string): string | null {
  const last = earlier.find(({ outcome, sessionId }) => {
    return outcome !== 'released' && !(outcome === 'deferred' && !sessionId)
  })
  if (last === undefined || !interrupted.has(last.outcome) || last.profile !== profile) return null
  return last.sessionId ?? null
}
