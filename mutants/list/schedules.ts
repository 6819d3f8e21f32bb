// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

/** Leaves out ends of one kind where a schedule is told of them. */
function deafTo(status: string): Mutant {
  return {
    id: `delay-stuck-after-${status}`,
    hazard: `A fixed delay is never planned again once its run has ended ${status}.`,
    edits: [
      [
        'isMoved',
        'ends.some(({ runId }) => counted.has(runId) || runId === row.waitsFor)',
        `ends.some(({ runId, status }) => status !== '${status}' && (counted.has(runId) || runId === row.waitsFor))`,
      ],
    ],
    suites: [conformance('memory: law 2'), 'test/choices/intervals.test.ts', 'test/store/schedule-end.test.ts'],
  }
}

/** Each occurrence once, and the chain of them whole. */
export const schedules: readonly Mutant[] = [
  {
    id: 'occurrence-not-unique',
    hazard: 'One occurrence can become two runs.',
    edits: [
      ['ground', 'create unique index run_occurrence', 'create index run_occurrence'],
      [
        'insertRuns',
        'on conflict (schedule_id, occurrence_at) where occurrence_at is not null do nothing returning id',
        'returning id',
      ],
    ],
    suites: ['test/store/schedule-fire.test.ts', 'test/store/schedule-race.test.ts', conformance('law 1:')],
  },
  {
    id: 'expiry-instant-lost',
    hazard: 'A calendar or grid instant at which an interval hint expires gets neither a run nor an end.',
    edits: [['firstAllowed', 'state.hints?.interval?.expiresAt === now ? now : now + 1', 'now + 1']],
    suites: ['test/core/governor.test.ts', 'test/store/hint-expiry.test.ts'],
  },
  {
    id: 'expiry-asked-too-late',
    hazard: 'When a run ends after an interval hint expired, the calendar instants since the expiry are passed by.',
    edits: [
      [
        'next-plan.ts planned',
        'ask(row, asOfExpiry(row, now), unmeasured(row, lastRunId))',
        'ask(row, now, unmeasured(row, lastRunId))',
      ],
    ],
    suites: ['test/store/hint-expiry.test.ts'],
  },
  {
    id: 'hint-after-unseen-pause',
    hazard: 'A hint after a pause that ended before any worker looked loses the instants in between.',
    edits: [['withPastSettled', 'const isPauseOver = row.pausedUntil !== null', 'const isPauseOver = false']],
    suites: ['test/store/hint-expiry.test.ts'],
  },
  {
    id: 'catch-up-by-schedule-alone',
    hazard: 'Many schedules of a queue that were missed together start in the same millisecond.',
    edits: [['fireSchedules', 'yield* spreadCatchUp(now, bounded(taken))', 'bounded(taken)']],
    suites: ['test/store/catch-up.test.ts'],
  },
  {
    id: 'catch-up-by-step-alone',
    hazard: 'Workers that each fire a few of the missed schedules of a queue start them together.',
    edits: [['stampedes', 'if (few.length === 0) return isSpread', 'if (few.length >= 0) return isSpread']],
    suites: ['test/store/catch-up.test.ts'],
  },
  {
    id: 'catch-up-pushes-out-punctual',
    hazard: 'Under overlap queue, catching up pushes out occurrences that are on time.',
    edits: [['overlapDecision', "const isBlind = cause === 'punctual-occurrence'", 'const isBlind = false']],
    suites: ['test/store/catch-up.test.ts'],
  },
  {
    id: 'fire-without-lock',
    hazard: 'On PostgreSQL two workers give one schedule its turn at the same moment.',
    edits: [
      ['lockOldest', '${oldestFirst} for no key update skip locked', '${oldestFirst}'],
      ['lockNewest', '${newestFirst} for no key update skip locked', '${newestFirst}'],
    ],
    suites: ['test/store/schedule-race.test.ts', conformance('PostgreSQL (laws 1, 2|law 1:)')],
  },
  {
    id: 'fire-waits-for-others',
    hazard: 'On PostgreSQL somebody who edits one schedule holds up the firing of all others.',
    edits: [['lockOldest', '${oldestFirst} for no key update skip locked', '${oldestFirst} for no key update']],
    suites: ['test/store/interleaved.test.ts'],
  },
  {
    id: 'next-computed-from-now',
    hazard: 'A cron is asked after now and not after what it planned, so that a clock that went back fires it twice.',
    edits: [['firstAllowed', '(state.lastPlannedAt ?? now - 1) + 1, ', '']],
    suites: ['test/core/governor.test.ts', 'test/choices/governor.test.ts'],
  },
  {
    id: 'planned-instant-planned-again',
    hazard: 'An instant that has become a run is planned again.',
    edits: [['governor.ts bounded', 'state.lastPlannedAt !== undefined && at <= state.lastPlannedAt', 'at < 0']],
    suites: ['test/core/governor.test.ts'],
  },
  {
    id: 'delay-measured-from-now',
    hazard: 'A fixed delay is put off by every question.',
    edits: [
      [
        'everyBaseline',
        'startAt >= anchorAt ? startAt : anchorAt + waitMs',
        'startAt >= anchorAt ? startAt : now + waitMs',
      ],
    ],
    suites: ['test/core/governor.test.ts'],
  },
  {
    id: 'schedule-advanced-outside-sqlite',
    hazard: 'On SQLite a schedule is advanced in another transaction than the one that made its run.',
    edits: [
      [
        'SqliteDatabase.#answer',
        'if (prepared === null) return []\n        const rows',
        `if (prepared === null) return []
        if (request.statement.name.startsWith('schedule save') && handle === this.#handle) {
          handle.exec('commit')
          while (!this.#begin());
        }
        const rows`,
      ],
    ],
    suites: ['test/store/one-transaction.test.ts', conformance('SQLite file laws 2 and 14')],
  },
  {
    id: 'schedule-advanced-outside-postgres',
    hazard: 'On PostgreSQL a schedule is advanced in another transaction than the one that made its run.',
    edits: [
      [
        'PostgresDatabase.#run',
        'if (spelled === null) return []',
        `if (spelled === null) return []
    if (request.statement.name.startsWith('schedule save')) {
      await talk.ask({ text: 'commit' })
      await talk.ask({ text: readCommitted })
    }`,
      ],
    ],
    suites: ['test/store/one-transaction.test.ts', conformance('PostgreSQL laws 2 and 14')],
  },
  {
    id: 'schedule-not-advanced',
    hazard: 'A schedule that has fired stays where it was.',
    edits: [['fireSchedules', 'yield* savePlans(after.filter(({ id }) => isPlain.has(id)))', '']],
    suites: ['test/store/schedule-fire.test.ts'],
  },
  {
    id: 'oneshot-hint-not-used-up',
    hazard: 'A one-shot hint fires again and again.',
    edits: [['withDue', 'const consumed = usedUp(deciding)', 'const consumed = usedUp(deciding).slice(0, 0)']],
    suites: ['test/store/schedule-hint.test.ts'],
  },
  {
    id: 'tied-oneshot-fires-twice',
    hazard: 'A one-shot hint that ties with its rival makes a second run right after it.',
    edits: [
      [
        'turn.ts usedUp',
        'fires.some(({ plannedAt }) => plannedAt >= hint.at)',
        'fires.some(({ plannedAt }) => plannedAt > hint.at)',
      ],
    ],
    suites: ['test/store/schedule-hint.test.ts'],
  },
  {
    id: 'interval-hint-outlives-itself',
    hazard: 'An interval hint counts after its time is over.',
    edits: [
      [
        'intervalWish',
        "if (hint.expiresAt > now) return windowed(wish('interval-hint'",
        "if (hint.expiresAt > 0) return windowed(wish('interval-hint'",
      ],
    ],
    suites: ['test/core/governor.test.ts'],
  },
  {
    id: 'hint-expires-unnoticed',
    hazard: 'Nobody asks again when a hint expires, and what it put off stays put off.',
    edits: [
      [
        'nextRun',
        'firstExpiry(interval !== null, oneshot !== null, state.hints)',
        'firstExpiry(false, false, state.hints)',
      ],
    ],
    suites: ['test/core/governor.test.ts', 'test/choices/governor.test.ts'],
  },
  deafTo('cancelled'),
  deafTo('parked'),
  deafTo('skipped'),
  deafTo('failed'),
  deafTo('completed'),
  {
    id: 'repair-finds-nothing',
    hazard: 'A broken chain stays broken.',
    edits: [['schedules/repair.ts repair', 'yield* mendChains(now, limit)', 'yield* mendChains(now, 0)']],
    suites: ['test/store/schedule-end.test.ts'],
  },
  {
    id: 'repair-never-asked',
    hazard: 'Nobody looks for broken chains.',
    edits: [
      [
        'Duties.#reconcile',
        'if (clock.monotonic() < this.#repairAt) return',
        'if (clock.monotonic() > this.#repairAt) return',
      ],
    ],
    suites: ['test/engine/duties.test.ts'],
  },
  {
    id: 'missed-skip-fires',
    hazard: 'A schedule that wants missed occurrences left out gets them.',
    edits: [['missed.ts judge', "if (mode === 'skip') return end('skip', 'missed')", '']],
    suites: ['test/core/missed.test.ts'],
  },
  {
    id: 'missed-once-fires-all',
    hazard: 'All missed occurrences come at once where one should stand for them.',
    edits: [['missed.ts judge', "if (mode === 'once' && !isNewest) return end('skip', 'missed')", '']],
    suites: ['test/core/missed.test.ts'],
  },
  {
    id: 'max-lateness-ignored',
    hazard: 'An occurrence fires however late it is.',
    edits: [
      [
        'missed.ts judge',
        "return lateMs > maxLatenessMs({ schedule, periodMs }) ? end('skip', 'lateness') : end('fire', 'missed')",
        "return end('fire', 'missed')",
      ],
    ],
    suites: ['test/core/missed.test.ts'],
  },
  {
    id: 'overlap-skip-unrecorded',
    hazard: 'An occurrence that overlap forbids vanishes without an end in the ledger.',
    edits: [
      [
        'turn.ts decide',
        "else skip(deciding, alone, 'overlap', nameOf(decision.because))",
        'else deciding.lastPlannedAt = plannedAt',
      ],
    ],
    suites: ['test/store/schedule-overlap.test.ts'],
  },
  {
    id: 'queue-max-ignored',
    hazard: 'More runs of a schedule wait than it allows.',
    edits: [['overlapDecision', 'if (waiting.length < queueMaxOf(input))', 'if (waiting.length >= 0)']],
    suites: ['test/core/overlap.test.ts'],
  },
  {
    id: 'queued-runs-go-beside-each-other',
    hazard: 'Runs that should wait for each other run at once.',
    edits: [['standsBehind', "return mode === 'queue' || mode === 'cancel'", "return mode === 'cancel'"]],
    suites: ['test/store/schedule-overlap.test.ts'],
  },
  {
    id: 'max-runs-plus-one',
    hazard: 'A schedule has one run more than it should.',
    edits: [['nextRun', '(state.runsCount ?? 0) >= schedule.maxRuns', '(state.runsCount ?? 0) > schedule.maxRuns']],
    suites: ['test/core/governor.test.ts'],
  },
  {
    id: 'eventful-turn-saved-as-plain',
    hazard: 'A hint that a turn used up is still there afterwards, because only the plan is written.',
    edits: [
      ['isPlainTurn', 'passed.length + skips.length + endedHints.length > 0', 'passed.length + skips.length > 0'],
    ],
    suites: ['test/store/schedule-hint.test.ts'],
  },
  {
    id: 'failures-of-a-cron-uncounted',
    hazard: 'The failure of a cron’s occurrence is taken for an end that changes nothing.',
    edits: [
      [
        'isPlannedAnyhow',
        "return failureCount === 0 && ends.every(({ status }) => status === 'completed')",
        'return failureCount >= 0 || ends.length > 0',
      ],
    ],
    suites: ['test/store/schedule-end.test.ts', 'test/choices/intervals.test.ts'],
  },
  {
    id: 'timing-brings-instants-from-before',
    hazard: 'A schedule with a spread runs for an instant from before its timing was written.',
    edits: [
      ['notYetDue', 'Math.max(row.lastPlannedAt ?? row.timedAt, row.timedAt)', '(row.lastPlannedAt ?? row.timedAt)'],
    ],
    suites: ['test/store/schedule-missed.test.ts'],
  },
  {
    id: 'first-spread-occurrence-passed-by',
    hazard: 'The first occurrence of a schedule with a spread has no end when it is planned again before it is due.',
    edits: [
      [
        'notYetDue',
        ' === undefined || afterAt >= now',
        ' === undefined || afterAt >= now || row.lastPlannedAt === null',
      ],
    ],
    suites: ['test/store/schedule-missed.test.ts'],
  },
  {
    id: 'hint-passes-the-calendar-by',
    hazard: 'A one-shot hint that a bound moves to an instant of the calendar takes the place of that occurrence.',
    edits: [['isEarlier', 'b.waitsForEnd && a.at < b.at', 'a.at < b.at']],
    suites: ['test/core/governor.test.ts', 'test/store/schedule-hint.test.ts'],
  },
  {
    id: 'expired-oneshot-moves-what-came',
    hazard:
      'A one-shot that expired unseen takes from the calendar an instant that came before an interval hint was given.',
    edits: [['hintsExpired', 'stands(row, hints, at)\n    ? row\n    : planned(', 'planned(']],
    suites: ['test/store/hint-expiry.test.ts'],
  },
  {
    id: 'reset-run-overlaps-after-a-pause',
    hazard: 'After a pause a run that was reset starts beside the newer run of its schedule that it was behind.',
    edits: [['releaseRuns', 'Number(mayBeBehind(a)) - Number(mayBeBehind(b)) || byAge(a, b)', 'byAge(a, b)']],
    suites: ['test/store/schedule-pause.test.ts'],
  },
]
