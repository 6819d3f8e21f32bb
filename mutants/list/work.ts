import { conformance, type Mutant } from '../mutant.ts'

/** What becomes of runs: taken in once, tried again within bounds, and kept as long as they must be. */
export const work: readonly Mutant[] = [
  {
    id: 'idempotency-key-ignored',
    hazard: 'The same idempotency key makes a second run.',
    edits: [['refuseKnownKeys', 'if (first === undefined || first.runId === id) continue', 'if (now > 0) continue']],
    suites: ['test/store/enqueue.test.ts'],
  },
  {
    id: 'idempotency-conflict-accepted',
    hazard: 'Other work under a known idempotency key is taken for the first, and lost without a word.',
    edits: [['refuseKnownKeys', 'if (first.hash === hash)', "if (first.hash !== '')"]],
    suites: ['test/store/enqueue.test.ts', 'test/choices/work.test.ts'],
  },
  {
    id: 'dedupe-key-ignored',
    hazard: 'Two runs of one dedupe key are live at once.',
    edits: [['refuseLiveDuplicates', 'if (holder === undefined || holder === id) continue', 'if (id > 0) continue']],
    suites: ['test/store/enqueue.test.ts', 'test/choices/work.test.ts'],
  },
  {
    id: 'dedupe-key-of-ended-run-blocks',
    hazard: 'A run that has ended keeps its dedupe key.',
    edits: [['conclude', 'yield* freeDedupeKeys(over)', '']],
    suites: ['test/choices/work.test.ts', conformance('memory: a dedupe key')],
  },
  {
    id: 'deferral-counts-as-attempt',
    hazard: 'A run that a spent budget puts off uses its own attempts for it, and fails without having been tried.',
    edits: [
      ['verdict.ts deferred', '{ ...counts(run), releases', '{ ...counts(run), attempts: run.attempts + 1, releases'],
    ],
    suites: ['test/core/verdict.test.ts', 'test/store/deferral.test.ts'],
  },
  {
    id: 'deferral-without-end',
    hazard: 'A run is put off for ever, and no person hears of it.',
    edits: [['verdictOn', '    firstDeferredAt,\n', '']],
    suites: ['test/store/deferral.test.ts'],
  },
  {
    id: 'guard-asked-too-late',
    hazard: 'A run starts although a part refused it.',
    edits: [['Worker.#askThenExecute', 'if (end !== null) return end', '']],
    suites: ['test/engine/begin.test.ts'],
  },
  {
    id: 'hooks-miss-plain-ends',
    hazard: 'What a part reserved for a run is never given back when the run simply succeeds.',
    edits: [['settlePlain', 'if (now !== null && written.length > 0) yield* callHooks(context, now, written)', '']],
    suites: ['test/store/end-hooks.test.ts', conformance('memory: every end of an attempt')],
  },
  {
    id: 'hooks-miss-further-attempts',
    hazard: 'What a part reserved for an attempt is kept when the attempt fails and another one follows.',
    edits: [['conclude', 'const ends = endings.map(runEndOf)', 'const ends = over.map(runEndOf)']],
    suites: ['test/store/end-hooks.test.ts', conformance('memory: every end of an attempt')],
  },
  {
    id: 'written-schedule-not-read-again',
    hazard: 'A hint that a rule writes when a run ends is overwritten by the move of the schedule in the same step.',
    edits: [['callEnding', 'if (written.length > 0) rows =', 'if (written.length < 0) rows =']],
    suites: ['test/store/end-hooks.test.ts'],
  },
  {
    id: 'success-after-cancel-lost',
    hazard: 'A run that succeeds after a cancel request is recorded as cancelled, and a retry repeats it.',
    edits: [
      [
        'standsAfter',
        "if (stopped === 'cancelled' || stopped === 'budget') return own.kind === 'success'",
        "if (stopped === 'cancelled' || stopped === 'budget') return false",
      ],
    ],
    suites: ['test/engine/late-cancel.test.ts'],
  },
  {
    id: 'budget-plus-one',
    hazard: 'A run is tried once more than its budget allows.',
    edits: [['spent', 'if (attempts >= policy.maxAttempts)', 'if (attempts > policy.maxAttempts)']],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'budget-by-the-old-policy',
    hazard: 'An attempt is judged by the policy of when its run was made and not by that of this moment.',
    edits: [
      [
        'findJudged',
        'join belfry.queue q on q.id = d.queue_id\n    where d.id = $1`',
        'join belfry.queue_version q on q.queue_id = d.queue_id and q.version = d.policy_version\n    where d.id = $1`',
      ],
    ],
    suites: [conformance('memory: law 5')],
  },
  {
    id: 'no-backoff',
    hazard: 'A failed run is tried again at once.',
    edits: [
      ['spent', 'now + backoffMs({ attempts, policy, runId: run.id })', 'now + 0 * backoffMs({ attempts, policy })'],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'backoff-without-cap',
    hazard: 'The wait between attempts grows without an end.',
    edits: [['exactBackoffMs', 'Math.min(policy.backoffCapMs, Math.round(grownMs))', 'Math.round(grownMs)']],
    suites: ['test/core/backoff.test.ts'],
  },
  {
    id: 'retry-after-ignored',
    hazard: 'A server that asks to wait is called again too soon.',
    edits: [
      ['verdict.ts failed', 'notBefore: Math.min(askedAt, now + retryAfterMsMax)', 'notBefore: Math.min(askedAt, now)'],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'retry-after-without-cap',
    hazard: 'A server can put a run off for a year.',
    edits: [['verdict.ts failed', 'notBefore: Math.min(askedAt, now + retryAfterMsMax)', 'notBefore: askedAt']],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'lost-work-is-repeated',
    hazard: 'Work that must not be repeated is done again after its lease was lost.',
    edits: [
      [
        'verdict.ts lost',
        "if (run.repeatable === false) return parked(judged, 'effect-unknown', run.attempts + 1)",
        '',
      ],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'unknown-work-is-repeated',
    hazard: 'Work that must not be repeated is done again although nobody knows what it did.',
    edits: [
      [
        'verdict',
        "if (run.repeatable === false) return parked(run, 'effect-unknown', run.attempts + 1)\n      return",
        'return',
      ],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'repeatable-not-stored',
    hazard: 'A run forgets that it must not be repeated.',
    edits: [['verdictOn', 'repeatable: facts?.repeatable !== 0', 'repeatable: facts?.repeatable !== -1']],
    suites: ['test/choices/runs.test.ts'],
  },
  {
    id: 'bounces-for-ever',
    hazard: 'A run that everybody gives back goes round for ever.',
    edits: [['released', 'if (releases >= releasesInARowMax)', 'if (releases < 0)']],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'release-counts-as-attempt',
    hazard: 'A run that was given back untouched has used part of its budget.',
    edits: [
      [
        'released',
        "return { ...counts(run), releases, status: 'ready', reason: 'released' }",
        "return { ...counts(run), attempts: run.attempts + 1, releases, status: 'ready', reason: 'released' }",
      ],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'forced-stop-counts-as-attempt',
    hazard: 'A restart of the worker uses part of the budget of what it ran.',
    edits: [
      [
        'verdict',
        'return forcedStop(run, outcome.reason)',
        "return spent({ now, run, policy, reason: 'forced-stop' })",
      ],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'cancelled-run-is-tried-again',
    hazard: 'A run that was to be cancelled is tried again after its lease was lost.',
    edits: [
      [
        'verdict',
        "if (outcome.kind === 'cancelled' || isSet(run.cancelRequestedAt))",
        "if (outcome.kind === 'cancelled')",
      ],
    ],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'poison-is-tried-again',
    hazard: 'A run that ends its workers goes on ending them.',
    edits: [['verdict.ts lost', '(holderDied ? 1 : 0)', '(holderDied ? 0 : 0)']],
    suites: ['test/core/verdict.test.ts'],
  },
  {
    id: 'failed-occurrence-is-parked',
    hazard: 'An occurrence whose attempts are used up waits for a person instead of failing.',
    edits: [['onExhaustedOf', "(lease.schedule_id === null ? 'park' : 'fail')", "'park'"]],
    suites: ['test/store/schedule-end.test.ts'],
  },
  {
    id: 'retention-takes-parked-runs',
    hazard: 'Parked runs vanish although no policy says so.',
    edits: [
      ['parkedKeptMs', 'return retention.parkedMs ?? null', 'return retention.parkedMs ?? retention.completedMs'],
    ],
    suites: ['test/store/prune.test.ts'],
  },
  {
    id: 'retention-takes-failed-runs-early',
    hazard: 'Failed runs go as early as completed ones.',
    edits: [['endedKeptMs', "status === 'failed' ? retention.failedMs", "status === 'failed' ? retention.completedMs"]],
    suites: ['test/store/prune.test.ts'],
  },
  {
    id: 'retention-takes-live-ledger-rows',
    hazard: 'The ledger row of an occurrence goes while its run is live, and the occurrence never ends.',
    edits: [
      [
        'sweep-schedules.ts isOver',
        'and recorded_at <= $2 and (run_id is null or ended_at <= $2)`',
        'and recorded_at <= $2`',
      ],
    ],
    suites: ['test/store/prune.test.ts'],
  },
  {
    id: 'output-without-cap',
    hazard: 'A run that floods its output fills the store.',
    edits: [['outputBytesMax', 'outputBytesMax = 1024 * 1024', 'outputBytesMax = 1024 * 1024 * 1024']],
    suites: ['test/store/output.test.ts'],
  },
  {
    id: 'singleton-duty-for-everybody',
    hazard: 'A duty that one worker does for all is done by all of them at once.',
    edits: [
      [
        'take-duty.ts take',
        'where d.worker_id = excluded.worker_id or d.expires_at <= $5',
        'where d.expires_at <> $5 - 1',
      ],
    ],
    suites: ['test/choices/many-processes.test.ts'],
  },
]
