// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

/** Holds that let something start. Those on a queue and on everything are among the claims. */
export const holds: readonly Mutant[] = [
  {
    id: 'blocked-account-is-leased',
    hazard: 'A run of a blocked account starts.',
    edits: [['laneHold', "case when n.account <> '' then", "case when n.account = '' then"]],
    suites: ['test/store/lane-holds.test.ts'],
  },
  {
    id: 'closed-calendar-is-leased',
    hazard: 'A run of a closed calendar starts.',
    edits: [['laneHold', "case when n.calendar <> '' then", "case when n.calendar = '' then"]],
    suites: ['test/store/lane-holds.test.ts'],
  },
  {
    id: 'occurrence-under-a-spent-budget-fires',
    hazard: 'A hold that skips occurrences lets them fire, and money is spent that is not there.',
    edits: [['fireDue', 'found.some(({ skips }) => skips !== null)', 'found.length === 0']],
    suites: ['test/store/lane-holds.test.ts'],
  },
  {
    id: 'hold-waits-for-no-lease',
    hazard:
      'On PostgreSQL a stop is answered while leases are under way that have not seen it, and work starts after it.',
    edits: [['holds/hold-verbs.ts takeEffect', 'await store.do(awaitLeases)', '']],
    suites: ['test/parts/holds/under-way.test.ts'],
  },
  {
    id: 'stop-waits-for-no-lease',
    hazard:
      'On PostgreSQL `belfry stop` answers while leases are under way that have not seen it, and work starts after it.',
    edits: [['parts/holds/stop-verbs.ts stop', 'await store.do(awaitStop, stopping)', '']],
    suites: ['test/parts/holds/under-way.test.ts'],
  },
  {
    id: 'released-attempt-counts',
    hazard: 'Work that a person has stopped uses an attempt, and is parked after a few stops.',
    edits: [
      [
        'outcomeAfter',
        "case 'shutdown':\n    case 'release':",
        "case 'release':\n      return { kind: 'failed', reason: 'stopped' }\n    case 'shutdown':",
      ],
    ],
    suites: ['test/engine/release.test.ts'],
  },
  {
    id: 'stopped-queue-fires',
    hazard: 'Schedules of a stopped queue, kind or account fire.',
    edits: [['fireDue', '!stops.stopped.has(id)', 'id > 0']],
    suites: ['test/parts/holds/stop.test.ts'],
  },
  {
    id: 'stopped-schedules-sleep-on',
    hazard: 'After a stop on a queue, kind or account its schedules never fire again.',
    edits: [['endStop', 'endsInSteps(hold) && (yield* wakeSome', 'hold.id === "" && (yield* wakeSome']],
    suites: ['test/parts/holds/stop.test.ts'],
  },
  {
    id: 'held-kind-is-leased-at-once',
    hazard: 'On PostgreSQL a worker that knows its queue is given runs of a kind that is held.',
    edits: [['leaseHead', "on ${laneIsOpenAtOnce('line.now')}", 'on true']],
    suites: ['test/parts/holds/operations.test.ts'],
  },
  {
    id: 'held-kind-is-leased',
    hazard: 'A worker is given runs of a kind that is held.',
    edits: [['surveyed', "where ${laneIsOpen('c.now')}", '']],
    suites: ['test/parts/holds/operations.test.ts'],
  },
  {
    id: 'held-key-is-leased-at-once',
    hazard: 'On PostgreSQL a run of a held key that came in a transaction of its caller is leased.',
    edits: [
      ['leaseHead', "${holdOn('key', 'head.concurrency_key', { now: '(select now from line)' })} is not null", 'false'],
    ],
    suites: [conformance('PostgreSQL a run of a held key')],
  },
  {
    id: 'lifted-hold-forgets-its-runs',
    hazard:
      'The runs of a key wait for ever: their hold was lifted after the clock was set back, and nothing releases them.',
    edits: [['lift-hold.ts lift', 'if (endsInSteps(hold))', 'if (endsInSteps(hold) && hold.from <= now)']],
    suites: [conformance('memory: a hold that began before the clock')],
  },
  {
    id: 'notice-of-a-stop-opens-its-queue',
    hazard: 'While everything is stopped and one notification tells of it, all the others of its queue start too.',
    edits: [['lease.ts forcedLanes', "n.calendar = '${toldCalendar}' and", '']],
    suites: ['test/parts/notices/raised.test.ts'],
  },
  {
    id: 'stop-everywhere-stops-here',
    hazard: 'A stop of all namespaces stops one, and the others go on.',
    edits: [['holds/stop-work.ts namespacesOf', 'if (!everywhere)', 'if (!everywhere || context.ns > 0)']],
    suites: ['test/parts/holds/stop.test.ts'],
  },
  {
    id: 'misspelt-stop-is-answered',
    hazard: 'A stop on a misspelt account is answered with success, and the account goes on.',
    edits: [['doubtOf', 'if (!isAll)', 'if (isAll)']],
    suites: ['test/parts/holds/stop.test.ts'],
  },
  {
    id: 'stop-file-is-not-read',
    hazard: 'A worker goes on although its machine has a STOP file.',
    edits: [['engine/halt.ts Halt.tick', 'this.#reason = await reasonIn(stopFile)', 'this.#reason = null']],
    suites: ['test/engine/halt.test.ts'],
  },
  {
    id: 'disabled-worker-starts-work',
    hazard: 'A worker that was started with BELFRY_DISABLED fires and leases.',
    edits: [['engine/halt.ts Halt.constructor', 'options.disabled ?? null', 'null']],
    suites: ['test/engine/halt.test.ts'],
  },
  {
    id: 'new-namespace-is-not-stopped',
    hazard: 'A namespace that is made while everything is stopped everywhere starts work.',
    edits: [['ensureNamespace', 'made === id', 'made !== id']],
    suites: ['test/parts/holds/stop.test.ts'],
  },
]
