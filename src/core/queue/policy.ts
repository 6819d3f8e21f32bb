import type { AddedToQueue, StoredFields } from '../added.ts'
import {
  choice,
  duration,
  type Fields,
  fieldProblems,
  group,
  integer,
  namedFields,
  real,
  required,
  type StoredOf,
} from '../field-table.ts'
import { isRecord } from '../json/record.ts'
import { isShown, type Problem } from '../problem.ts'
import { countMax } from '../run/work-fields.ts'

/** The queue of work that names none. */
export const defaultQueue = 'default'

const dayMs = 86_400_000

const rateFields = {
  startsMax: required(integer(1, countMax, { says: 'How many runs may start in the window.' })),
  per: required(duration({ says: 'The length of the window in which starts are counted.' })),
}

const retentionFields = {
  completed: required(
    duration({ min: 0, says: 'How long completed, cancelled and skipped runs are kept.', default: 7 * dayMs }),
  ),
  failed: required(duration({ min: 0, says: 'How long failed runs are kept.', default: 30 * dayMs })),
  ledger: required(duration({ min: 0, says: 'How long the history of schedules is kept.', default: 90 * dayMs })),
  endedRunsMax: required(
    integer(0, Number.MAX_SAFE_INTEGER, { says: 'How many ended runs are kept.', default: 1_000_000 }),
  ),
  parked: duration({ min: 0, says: 'How long parked runs are kept; when absent, for ever.' }),
}

/** The rules of a queue. */
export const policyFields = {
  maxConcurrent: required(
    integer(1, countMax, {
      says: 'How many runs of the queue are at work at once, over all workers.',
      default: 5,
      defaultSays: '1, and 5 for the queue `default`',
    }),
  ),
  maxConcurrentPerKey: integer(1, countMax, {
    says: 'How many runs with the same concurrencyKey are at work at once; when absent, only the queue’s ceiling applies.',
  }),
  maxAttempts: required(integer(1, countMax, { says: 'How often a run is tried.', default: 3 })),
  leaseTtl: required(
    duration({ min: 1_000, max: 7 * dayMs, says: "How long an outside host's lease lasts.", default: 300_000 }),
  ),
  backoffBase: required(duration({ min: 0, says: 'The wait before the second attempt.', default: 1_000 })),
  backoffFactor: required(real(1, 1_000, { says: 'Each wait is this many times the one before.', default: 2 })),
  backoffCap: required(duration({ min: 0, says: 'The longest wait between attempts.', default: 60_000 })),
  backoffSpread: real(0, 1, {
    says: 'The largest share by which a run’s wait is shortened, so that runs that failed together do not retry together; when absent, 0.',
  }),
  rateLimit: group(rateFields, {
    says: 'How many runs may start in a window of time; when absent, any number.',
    example: '{"startsMax":10,"per":"1m"}',
  }),
  onExhausted: choice(['park', 'fail'], {
    says: 'What happens to a run that has used all its attempts; when absent, enqueued work is parked and occurrences fail.',
  }),
  retention: required(
    group(retentionFields, {
      says: 'How long ended runs and history are kept.',
      example: '{"completed":"7d","failed":"30d"}',
      defaultSays: '7d completed, 30d failed, 90d history, 1000000 ended runs; parked runs for ever',
    }),
  ),
}

/** At most `startsMax` runs of a queue start in any window of `perMs`. */
export type RateLimit = StoredOf<typeof rateFields>

/** How long ended runs are kept. Parked runs are kept for ever unless `parkedMs` is given. */
export type Retention = StoredOf<typeof retentionFields>

/** The rules of one queue, as plain data. */
export interface Policy extends StoredOf<typeof policyFields>, StoredFields<AddedToQueue> {}

export const defaultPolicy: Policy = Object.freeze({
  ...(defaultsOf(policyFields) as unknown as Policy),
  retention: Object.freeze(defaultsOf(retentionFields) as unknown as Retention),
})

function defaultsOf(fields: Fields): object {
  const known = namedFields(fields).filter(({ field }) => field.default !== undefined)
  return Object.fromEntries(known.map(({ stored, field }) => [stored, field.default]))
}

/** All problems of a policy, except in fields that parts add. Empty: valid. */
export function policyProblems(policy: unknown, added: readonly string[] = []): Problem[] {
  if (!isRecord(policy)) return [{ field: 'policy', problem: isShown(policy), expected: 'an object' }]
  const problems = fieldProblems(policyFields, policy, { noun: 'a policy', others: added })
  const { backoffBaseMs: baseMs, backoffCapMs: capMs } = policy
  if (typeof baseMs === 'number' && typeof capMs === 'number' && capMs < baseMs) {
    const expected = `at least \`backoffBaseMs\`, which is ${baseMs}`
    problems.push({ field: 'backoffCapMs', problem: isShown(capMs), expected })
  }
  return problems
}
