import type { Attempt } from '../attempt.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What a program gets of Belfry's own environment. All else stays here, secrets and tokens above all. */
const inherited = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'SHELL']
/** Where systems keep their programs; for a Belfry that was itself started without a PATH. */
const pathDefault = '/usr/local/bin:/usr/bin:/bin'

/** The whole environment of a program: a few of Belfry's own variables, what tells of the attempt, what the target names. */
export function environmentOf(
  attempt: Attempt,
  named: Readonly<Record<string, string>>,
  own: Environment,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: pathDefault }
  for (const name of inherited) {
    const value = own[name]
    if (value !== undefined) environment[name] = value
  }
  return { ...environment, TRACEPARENT: attempt.traceparent, ...named, ...told(attempt) }
}

/** Run, attempt and claim are also how leftovers of a dead worker are recognised, so nothing may stand in their place. */
function told(attempt: Attempt): Record<string, string> {
  return {
    BELFRY_RUN: attempt.runId,
    BELFRY_ATTEMPT: String(attempt.fence),
    BELFRY_CLAIM: attempt.claimId,
    BELFRY_IDEMPOTENCY_KEY: attempt.idempotencyKey,
    BELFRY_PLANNED_AT: new Date(attempt.plannedAt).toISOString(),
    BELFRY_QUEUE: attempt.queue,
    BELFRY_SOURCE: attempt.source,
  }
}
