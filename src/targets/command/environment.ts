import type { Attempt } from '../attempt.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The variables that a program gets from Belfry's own environment. All other variables stay here, above
 * all secrets and tokens.
 */
const inherited = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'SHELL']
/** The usual folders of programs; for a Belfry that was itself started without a PATH. */
const pathDefault = '/usr/local/bin:/usr/bin:/bin'

/** The whole environment of a program: a few of Belfry's own variables, those of the attempt, those of the target. */
export function environmentOf(
  attempt: Attempt,
  named: Readonly<Record<string, string>>,
  own: Environment,
  resultFile?: string,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: pathDefault }
  for (const name of inherited) {
    const value = own[name]
    if (value !== undefined) environment[name] = value
  }
  const result = resultFile === undefined ? {} : { BELFRY_RESULT_FILE: resultFile }
  return { ...environment, TRACEPARENT: attempt.traceparent, ...named, ...attemptVariables(attempt), ...result }
}

/** Run, attempt and claim also identify processes that a dead worker left behind, so a target must not replace them. */
function attemptVariables(attempt: Attempt): Record<string, string> {
  return {
    BELFRY_RUN: attempt.runId,
    BELFRY_ATTEMPT: String(attempt.fence),
    BELFRY_CLAIM: attempt.claimId,
    BELFRY_IDEMPOTENCY_KEY: attempt.idempotencyKey,
    BELFRY_PLANNED_AT: new Date(attempt.plannedAt).toISOString(),
    BELFRY_QUEUE: attempt.queue,
    BELFRY_SOURCE: attempt.source,
    ...(attempt.account !== null && { BELFRY_ACCOUNT: attempt.account }),
  }
}
