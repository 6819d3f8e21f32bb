// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

const known = ['test/store/lease.test.ts', 'test/store/head-of-line.test.ts', 'test/store/lease-at-once.test.ts']

/** Who gets which runs, and how many at once. */
export const claims: readonly Mutant[] = [
  {
    id: 'claim-without-queue-lock',
    hazard: 'On PostgreSQL two claims of a queue count at the same moment and together pass its ceiling.',
    edits: [['queueLock', 'for no key update ${others}) q', "${others && 'for no key update skip locked'}) q"]],
    suites: [conformance('PostgreSQL law 3: the ceiling')],
  },
  {
    id: 'claim-counts-while-it-locks',
    hazard:
      'A claim locks and counts in one statement, so it counts with a snapshot from before its wait for the lock.',
    edits: [
      ['queueLock', 'for no key update ${others}) q', "${others && 'for no key update skip locked'}) q"],
      ['leaseHead', 'offset 0) q),', 'offset 0 for no key update of q) q),'],
      [
        'leases/lease.ts',
        'where q.ns = $1 and q.name = $2`\nconst survey =',
        "where q.ns = $1 and q.name = $2${texts.now === '$5' ? '' : ' for no key update of q'}`\nconst survey =",
      ],
    ],
    suites: [conformance('PostgreSQL law 3: the ceiling')],
  },
  {
    id: 'claim-in-two-transactions',
    hazard: 'On PostgreSQL a claim gives its lock away between counting and taking.',
    edits: [
      [
        'PostgresDatabase.#run',
        'if (spelled === null) return []',
        `if (spelled === null) return []
    if (request.statement.name === 'lease head of lanes') {
      await talk.ask({ text: 'commit' })
      await talk.ask({ text: readCommitted })
    }`,
      ],
    ],
    suites: [conformance('PostgreSQL law 3: the ceiling')],
  },
  {
    id: 'claim-in-two-transactions-sqlite',
    hazard: 'On SQLite a claim lets another process write between counting and taking.',
    edits: [
      [
        'SqliteDatabase.#answer',
        'if (prepared === null) return []\n        const rows',
        `if (prepared === null) return []
        if (request.statement.name === 'lease head of lanes') {
          handle.exec('commit')
          while (!this.#begin());
        }
        const rows`,
      ],
    ],
    suites: ['test/store/one-transaction.test.ts'],
  },
  {
    id: 'claim-waits-for-locked-runs',
    hazard: 'On PostgreSQL a claim waits for whoever has locked a run at the head of the line.',
    edits: [
      ['head-of-line.ts headOfLanes', 'limit lane.most for update skip locked) r', 'limit lane.most for update) r'],
      ['leaseHead', 'limit line.room for update skip locked) r', 'limit line.room for update) r'],
    ],
    suites: ['test/store/interleaved.test.ts'],
  },
  {
    id: 'expired-lease-is-free-sqlite',
    hazard: 'On SQLite an expired lease gives its slot away while its holder may still be at work.',
    edits: [
      [
        'surveyed',
        'from belfry.lease l where l.queue_id = q.id) as in_flight',
        "from belfry.lease l where l.queue_id = q.id${texts.now === '$5' ? ' and l.expires_at > $5' : ''}) as in_flight",
      ],
    ],
    suites: [conformance('law 3: an expired lease')],
  },
  {
    id: 'expired-lease-is-free-postgres',
    hazard: 'On PostgreSQL an expired lease gives its slot away while its holder may still be at work.',
    edits: [
      [
        'surveyed',
        'from belfry.lease l where l.queue_id = q.id) as in_flight',
        "from belfry.lease l where l.queue_id = q.id${texts.now === '$5' ? '' : ` and l.expires_at > ${texts.now}`}) as in_flight",
      ],
    ],
    suites: [conformance('PostgreSQL law 13: lease hands out exactly')],
  },
  {
    id: 'known-policy-is-not-asked-for',
    hazard:
      'On PostgreSQL whoever knows a queue goes on by the policy he knew, after somebody has lowered its ceiling.',
    edits: [['leaseHead', 'and q.policy = $5 and', 'and $5::text is not null and']],
    suites: known,
  },
  {
    id: 'paused-queue-is-leased-at-once',
    hazard: 'On PostgreSQL whoever knows a queue leases from it while it is paused.',
    edits: [['leaseHead', "${queueHold('c.now')}", "${holdOn('namespace', `''`, { now: 'c.now' })}"]],
    suites: known,
  },
  {
    id: 'stopped-fleet-leases-at-once',
    hazard: 'On PostgreSQL whoever knows a queue leases from it while the whole fleet is stopped.',
    edits: [['leaseHead', "${queueHold('c.now')}", "${holdOn('queue', 'q.name', { now: 'c.now' })}"]],
    suites: known,
  },
  {
    id: 'waiting-overtaken-at-once',
    hazard: 'On PostgreSQL a run whose instant has come stays aside as long as whoever leases knows its queue.',
    edits: [['leaseHead', "a.kind = 'waiting' and", "a.kind = 'nobody' and"]],
    suites: known,
  },
  {
    id: 'lateness-ignored-at-once',
    hazard: 'On PostgreSQL a run that comes too late is begun by whoever knows its queue.',
    edits: [['leaseHead', 'where deadline <= (select now from line) or', 'where']],
    suites: known,
  },
  {
    id: 'expired-lease-is-free-at-once',
    hazard: 'On PostgreSQL an expired lease gives its slot away to whoever knows the queue.',
    edits: [
      [
        'leaseHead',
        'where l.queue_id = q.id) as in_flight',
        'where l.queue_id = q.id and l.expires_at > c.now) as in_flight',
      ],
    ],
    suites: known,
  },
  {
    id: 'tried-lock-taken-for-granted',
    hazard: 'On PostgreSQL an enqueue leases from a queue that somebody else is counting.',
    edits: [
      [
        'leaseHead',
        "and current_setting('belfry_step.locked_queue', true) = q.id::text",
        'and $12::boolean is not null',
      ],
    ],
    suites: ['test/store/lone-run.test.ts', 'test/store/lease-at-once.test.ts'],
  },
  {
    id: 'unreadable-run-begun-at-once',
    hazard: 'On PostgreSQL a run that cannot be read stops everybody who knows its queue, for ever.',
    edits: [
      [
        'SqlStore.#withoutUnread',
        'this.do(setApart, request.claimId, unread)',
        'this.do(setApart, request.claimId, [])',
      ],
    ],
    suites: known,
  },
  {
    id: 'claim-committed-by-and-by',
    hazard: 'On PostgreSQL a worker that is stopped in the middle of a lease closes its queue to all others.',
    edits: [['PostgresDatabase.#run', 'return talk.askLast(query)', 'return talk.ask(query)']],
    suites: ['test/store/postgres/deaf.test.ts'],
  },
  {
    id: 'late-claim-forgotten',
    hazard:
      'On PostgreSQL a run is leased to a living worker that does not know of it, because its connection broke off before.',
    edits: [
      ['Lessor.#answerTo', 'if (!this.#options.context.store.keepsOrder) this.#doubtful.add(request.claimId)', ''],
    ],
    suites: ['test/engine/doubtful-claims.test.ts'],
  },
  {
    id: 'leased-run-committed-without-the-disk',
    hazard: 'On PostgreSQL a run that was enqueued and answered for is lost when the power goes.',
    edits: [['leaseHead', 'case when run_id is null and not $12::boolean then', 'case when run_id is null then']],
    suites: ['test/store/postgres/lease-at-once.test.ts'],
  },
  {
    id: 'ceiling-plus-one',
    hazard: 'A queue runs one more than its ceiling allows.',
    edits: [['leaseAtLength', 'slotsFree(policy, inFlight,', 'slotsFree(policy, inFlight - 1,']],
    suites: ['test/store/lease.test.ts', conformance('law 3: an expired lease')],
  },
  {
    id: 'key-ceiling-ignored',
    hazard: 'More runs of one key are leased than the queue allows at once.',
    edits: [
      [
        'leases/lease.ts sorted',
        'key !== null && (ofKey >= maxConcurrentPerKey || held.keys.has(key))',
        'key !== null && held.keys.has(key)',
      ],
    ],
    suites: [conformance('law 13'), 'test/store/lease.test.ts'],
  },
  {
    id: 'key-ceiling-ignored-at-once',
    hazard: 'On PostgreSQL more runs of one key are leased than the queue allows at once, by whoever knows the queue.',
    edits: [['leaseHead', '> $13::int)) as is_fit', '> 1000000)) as is_fit']],
    suites: known,
  },
  {
    id: 'key-in-flight-forgotten-at-once',
    hazard: 'On PostgreSQL whoever knows the queue forgets the runs of a key that are under way already.',
    edits: [['leaseHead', 'having count(*) + (select count(*) from', 'having count(*) + 0 * (select count(*) from']],
    suites: known,
  },
  {
    id: 'key-gate-never-opened',
    hazard: 'Runs behind a full key wait for ever, because the end of one lets nobody through.',
    edits: [['conclude', 'yield* regateAll(gates)', '']],
    suites: [conformance('memory: the end of a run lets'), 'test/choices/work.test.ts'],
  },
  {
    id: 'key-gate-lets-the-worst-through',
    hazard: 'Of the runs behind a key the worst-ranked one goes first.',
    edits: [['regateLane', '[...line, ...gated].sort(byPlace)', '[...line, ...gated].sort((a, b) => byPlace(b, a))']],
    suites: [conformance('memory: law 13'), conformance('memory: the end of a run lets')],
  },
  {
    id: 'key-gate-without-lock',
    hazard: 'On PostgreSQL a run is set behind a gate at the moment when the last run of its key finds nobody there.',
    edits: [
      [
        'lockGate',
        'postgres: `select pg_advisory_xact_lock(hashtextextended($2, cast($1 as bigint)))`',
        'postgres: null',
      ],
      [
        'tryLock',
        'postgres: `select 1 as got where pg_try_advisory_xact_lock(hashtextextended($2, cast($1 as bigint)))`',
        'postgres: `select 1 as got where $1::bigint = $1::bigint and $2::text = $2::text`',
      ],
    ],
    suites: ['test/store/interleaved.test.ts'],
  },
  {
    id: 'plain-end-forgets-the-key',
    hazard: 'A plain success of a run with a key leaves the others behind its gate.',
    edits: [['plainLeases', 'and concurrency_key is null and dedupe_key is null', 'and dedupe_key is null']],
    suites: [conformance('memory: the end of a run lets'), 'test/choices/work.test.ts'],
  },
  {
    id: 'paused-queue-is-leased',
    hazard: 'A paused queue goes on.',
    edits: [['queueHold', "${holdOn('queue', 'q.name', { ns: 'q.ns', now })}", 'null']],
    suites: ['test/store/set-queue.test.ts'],
  },
  {
    id: 'stopped-fleet-leases',
    hazard: 'A stopped namespace leases on.',
    edits: [['leaseAtLength', 'const isHeld = queue.held_by !== null', 'const isHeld = false']],
    suites: ['test/store/lease.test.ts'],
  },
  {
    id: 'stopped-fleet-fires',
    hazard: 'A stopped namespace makes runs of its schedules.',
    edits: [['fire-due.ts dueRows', "\n  and not ${stopsFiring({ ns: 's.ns', now: `(select ${now})` })}`", '`']],
    suites: ['test/store/schedule-fire.test.ts'],
  },
  {
    id: 'deadline-ignored',
    hazard: 'A run starts after its deadline.',
    edits: [['tooLateReason', "if (row.deadline !== null && (row.deadline as number) <= now) return 'deadline'", '']],
    suites: [conformance('memory: law 13'), 'test/store/lease.test.ts'],
  },
  {
    id: 'lateness-ignored-at-lease',
    hazard: 'An occurrence that waited beyond its maxLateness in the queue starts all the same.',
    edits: [
      [
        'tooLateReason',
        'if (row.late_after !== null && (row.late_after as number) < now && row.fence === 0)',
        'if (now < 0)',
      ],
    ],
    suites: ['test/choices/late-and-missed.test.ts'],
  },
  {
    id: 'lateness-held-against-retries',
    hazard: 'A retry ends as too late, although only the first attempt is judged by lateness.',
    edits: [
      ['tooLateReason', '(row.late_after as number) < now && row.fence === 0', '(row.late_after as number) < now'],
    ],
    suites: ['test/choices/late-and-missed.test.ts'],
  },
  {
    id: 'rate-limit-ignored',
    hazard: 'More runs start in a window than the rate of the queue allows.',
    edits: [['startsLeft', 'rateLimit.startsMax - Number(recent?.starts ?? 0)', 'rateLimit.startsMax']],
    suites: [conformance('memory: law 13'), 'test/store/lease.test.ts'],
  },
  {
    id: 'rate-not-recorded',
    hazard: 'Starts are not remembered, so that the rate of a queue never fills.',
    edits: [
      ['grant', 'if (policy.rateLimit !== undefined) yield* run(recordStarts', 'if (now < 0) yield* run(recordStarts'],
    ],
    suites: ['test/store/lease.test.ts'],
  },
  {
    id: 'priority-reversed',
    hazard: 'The run that should go last goes first.',
    edits: [
      [
        'head-of-line.ts headOfLanes',
        'order by r.priority, r.enqueued_at, r.run_id limit $3',
        'order by r.priority desc, r.enqueued_at, r.run_id limit $3',
      ],
      [
        'head-of-line.ts headOfLanes',
        'order by priority, enqueued_at, run_id limit lane.most',
        'order by priority desc, enqueued_at, run_id limit lane.most',
      ],
    ],
    suites: [conformance('law 13')],
  },
  {
    id: 'plan-orders-by-age',
    hazard: 'What is shown as next ignores priorities.',
    edits: [['inQueueOrder', 'return a.priority - b.priority || a.enqueuedAt', 'return a.enqueuedAt']],
    suites: ['test/core/plan.test.ts'],
  },
  {
    id: 'plan-frees-expired-leases',
    hazard: 'What is shown as next gives the slots of expired leases away.',
    edits: [
      [
        'openLane',
        "(run.status === 'leased' ? count + 1 : count)",
        "(run.status === 'leased' && (run.leaseExpiresAt ?? now) >= now ? count + 1 : count)",
      ],
    ],
    suites: ['test/core/plan.test.ts'],
  },
  {
    id: 'unable-worker-gets-the-run',
    hazard: 'A run is leased by a worker that cannot execute it.',
    edits: [
      [
        'survey',
        "needs: servedNeeds.sqlite('$3', '$4', '$1')",
        "needs: '(select * from belfry.need where ns = $1 and $3 = $3 and $4 = $4) n'",
      ],
    ],
    suites: ['test/choices/work.test.ts'],
  },
  {
    id: 'fail-open-on-unreadable-policy',
    hazard: 'A queue whose stored policy cannot be read runs with the default one instead of not at all.',
    edits: [
      ['parsePolicy', '(policy as Policy) : null', '(policy as Policy) : { maxConcurrent: 5 } as Policy'],
      [
        'parsePolicy',
        'and reports why.\n    return null',
        'and reports why.\n    return { maxConcurrent: 5 } as Policy',
      ],
    ],
    suites: ['test/store/set-queue.test.ts', 'test/store/lease.test.ts'],
  },
  {
    id: 'slots-ignored',
    hazard: 'A worker takes more than it has slots for, and what it holds waits in its hands.',
    edits: [['Lessor.#room', 'return slots === null ?', 'return slots !== -1 ?']],
    suites: ['test/engine/execute.test.ts', 'test/engine/lease.test.ts'],
  },
  {
    id: 'fence-begins-anew-after-reset',
    hazard: 'A reset run counts its leases from 1 again, so that an old holder fits the fence of the new one.',
    edits: [['resetParked', 'priority }, fence), eligible', 'priority }, 0 * fence), eligible']],
    suites: ['test/store/reset.test.ts', conformance('law 4: fences')],
  },
  {
    id: 'claim-empties-the-line',
    hazard: 'On SQLite the runs that stand between those that go vanish with them.',
    edits: [['leases/lease.ts take', 'isWhole: blocked === 0', 'isWhole: blocked >= 0']],
    suites: ['test/store/lease.test.ts'],
  },
]
