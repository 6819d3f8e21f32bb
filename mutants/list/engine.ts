// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

const recovery = 'test/engine/recovery.test.ts'

/** What one worker does with its leases, its clock and its store. */
export const engine: readonly Mutant[] = [
  {
    id: 'lost-lease-ignored',
    hazard: 'A worker whose lease was taken back goes on with the run, beside its successor.',
    edits: [['renewTick', 'loseHolding(context, holding)', 'void holding']],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'end-in-doubt-called-lost',
    hazard: 'An end whose commit broke off is told as a lost lease, because a renewal does not find it any more.',
    edits: [['renewTick', ' && !holding.isInDoubt', '']],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'lost-lease-ignored-by-output',
    hazard: 'A run learns from its output that its lease is lost, and goes on.',
    edits: [['OutputWriter.#write', 'loseHolding(this.#context, this.#holding)', 'return']],
    suites: ['test/engine/output.test.ts'],
  },
  {
    id: 'trust-by-the-wall-clock',
    hazard: 'A worker measures its leases by a clock that people set.',
    edits: [
      [
        'Lessor.#leaseFrom',
        'const trustedUntil = startedAt + trustMs(settings)',
        'const trustedUntil = clock.now() + trustMs(settings)',
      ],
      ['Lessor.#granted', 'while (clock.monotonic() < trustedUntil', 'while (clock.now() < trustedUntil'],
      ['renewTick', 'const startedAt = clock.monotonic()', 'const startedAt = clock.now()'],
      ['trustTick', 'const now = clock.monotonic()', 'const now = clock.now()'],
      ['Worker.#mayExecute', 'now < trustedUntil', 'now > 0 && this.#context.clock.now() < trustedUntil'],
    ],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'trust-until-expiry',
    hazard: 'A worker stops its run when the lease expires, which is when somebody else begins.',
    edits: [['trustMs', 'return leaseMs * (1 - untrustedShare)', 'return leaseMs * (1 - 0 * untrustedShare)']],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'trust-from-the-answer',
    hazard: 'A worker counts its trust from the answer to a renewal, while the store counts from before.',
    edits: [
      [
        'renewTick',
        'holding.trustedUntil = startedAt + trustMs(holding)',
        'holding.trustedUntil = clock.monotonic() + 0 * startedAt + trustMs(holding)',
      ],
    ],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'renewal-forgets-the-length',
    hazard: 'A lease whose kind of target asked for a longer one is renewed for as long as any other.',
    edits: [
      [
        'renewTick',
        'held.map(renewedBy)',
        'held.map((holding) => ({ ...renewedBy(holding), leaseMs: settings.leaseMs }))',
      ],
    ],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'longer-lease-trusted-at-once',
    hazard: 'A worker trusts the longer lease that a kind asks for before the store has granted it.',
    edits: [
      [
        'execute',
        'holding.leaseMs = kind.leaseMs',
        'holding.trustedUntil += 0.8 * ((holding.leaseMs = kind.leaseMs) - context.settings.leaseMs)',
      ],
    ],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'lease-trusted-from-its-answer',
    hazard: 'A worker counts the trust in a fresh lease from the answer, while the store counts from before.',
    edits: [['Lessor.#leaseFrom', 'begin(lease, trustedUntil)', 'begin(lease, clock.monotonic() + trustMs(settings))']],
    suites: ['test/engine/renew-tick.test.ts'],
  },
  {
    id: 'late-lease-is-begun',
    hazard: 'A run is begun though the answer to its lease took so long that somebody else may have it.',
    edits: [['Worker.#mayExecute', '&& now < trustedUntil', '']],
    suites: ['test/engine/stopping.test.ts'],
  },
  {
    id: 'trust-never-ends',
    hazard: 'A worker that hears nothing of its store goes on with runs that others have begun.',
    edits: [
      [
        'trustTick',
        "else if (stopHolding(holding, 'lease-lost')) {",
        "else if (now < 0 && stopHolding(holding, 'lease-lost')) {",
      ],
    ],
    suites: [recovery],
  },
  {
    id: 'finished-run-not-renewed',
    hazard: 'A run that has ended loses its lease while its end waits to be written, and runs again.',
    edits: [['renewTick', 'filter(({ isLost }) => !isLost)', 'filter(({ isLost, isOver }) => !isLost && !isOver)']],
    suites: [recovery],
  },
  {
    id: 'cancel-not-heard-by-renewal',
    hazard: 'A request to cancel whose wake-up is lost never reaches the holder.',
    edits: [
      [
        'renewTick',
        'if (renewal.cancelRequestedAt !== null) stopHolding',
        'if (renewal.cancelRequestedAt === 0) stopHolding',
      ],
    ],
    suites: ['test/choices/runs.test.ts', 'test/engine/renew-tick.test.ts'],
  },
  {
    id: 'cancel-not-heard-at-once',
    hazard: 'A request to cancel waits for the next renewal.',
    edits: [
      [
        'stopTick',
        'if (holding !== undefined) stopHolding(holding, request.stop)',
        'if (holding === null) stopHolding(holding, request.stop)',
      ],
    ],
    suites: ['test/engine/cancel.test.ts'],
  },
  {
    id: 'claim-not-asked-for-beyond-trust',
    hazard: 'What a claim was granted, if the store cannot tell soon, is left to a clock that may have been set back.',
    edits: [['Lessor.#granted', '< trustedUntil || isOpen()) {', '< trustedUntil) {']],
    suites: [recovery],
  },
  {
    id: 'unknown-claim-taken-for-a-no',
    hazard: 'A claim whose commit broke off is forgotten, and what it was granted waits for its lease to expire.',
    edits: [
      [
        'Lessor.#answerTo',
        "if (!(error instanceof BelfryError) || error.code !== 'commit-unknown') throw error",
        "if (!(error instanceof BelfryError) || error.code !== '') throw error",
      ],
    ],
    suites: [recovery],
  },
  {
    id: 'commit-error-swallowed-sqlite',
    hazard: 'On SQLite a commit that failed is answered as done.',
    edits: [
      [
        'SqliteDatabase.#commit',
        'commit took effect.\n      throw new BelfryError(',
        'commit took effect.\n      void new BelfryError(',
      ],
    ],
    suites: ['test/store/sqlite/commit.test.ts'],
  },
  {
    id: 'commit-error-swallowed-postgres',
    hazard: 'On PostgreSQL a commit that broke off is answered as done.',
    edits: [
      [
        'Talk.#committed',
        'await Promise.all(sent)\n    } catch (error) {\n      throw',
        'await Promise.all(sent)\n    } catch (error) {\n      if (!isRefusal(error)) return\n      throw',
      ],
    ],
    suites: [conformance('PostgreSQL .*breaks off')],
  },
  {
    id: 'unknown-commit-called-a-no',
    hazard: 'On PostgreSQL a commit that may have taken effect is answered as not done.',
    edits: [['Talk.#afterCommit', "'commit-unknown',", "'unavailable',"]],
    suites: [conformance('PostgreSQL .*breaks off')],
  },
  {
    id: 'ends-dropped-on-error',
    hazard: 'Ends that could not be written are forgotten, and their runs run again.',
    edits: [['Settler.#write', 'this.#waiting.unshift(...held)', '']],
    suites: [recovery, 'test/engine/settle.test.ts'],
  },
  {
    id: 'refused-result-loses-the-end',
    hazard: 'A result that cannot be kept takes the whole end of its run with it.',
    edits: [
      [
        'Settler.#conclude',
        "answer.answer === 'refused' && finished.isBare !== true",
        "answer.answer === 'refused' && finished.isBare === false",
      ],
    ],
    suites: ['test/engine/settle.test.ts'],
  },
  {
    id: 'reclaim-after-a-jump',
    hazard: 'After a jump of the clock leases are taken that have not expired.',
    edits: [['reclaimTick', '&& watch.mayReclaim(clock.monotonic())', '']],
    suites: ['test/choices/clocks.test.ts', 'test/engine/reclaim.test.ts'],
  },
  {
    id: 'jump-during-a-renewal-forgotten',
    hazard:
      'A jump of the clock that is seen while a worker renews its own leases does not keep it from taking others.',
    edits: [['reclaimTick', 'if (mayTakeBack()) reclaimed =', 'reclaimed =']],
    suites: ['test/engine/reclaim.test.ts'],
  },
  {
    id: 'jump-unnoticed',
    hazard: 'Nobody notices that the clock has jumped.',
    edits: [['ClockWatch.look', 'if (jumpedMs !== 0) this.#reclaimFrom', 'if (jumpedMs > 1e15) this.#reclaimFrom']],
    suites: ['test/engine/clock-watch.test.ts'],
  },
  {
    id: 'jump-renews-nothing',
    hazard: 'After a jump of the clock a worker does not renew what others may now take for expired.',
    edits: [['readInstants', '    jumped()\n', '']],
    suites: ['test/choices/clocks.test.ts'],
  },
  {
    id: 'fires-while-the-clock-is-behind',
    hazard: 'A clock that went back fires instants that have been.',
    edits: [
      ['Firer.tick', 'if (this.#isBehind(behindMs)) return', 'if (this.#isBehind(behindMs) && behindMs < 0) return'],
    ],
    suites: ['test/engine/fire.test.ts'],
  },
  {
    id: 'waits-for-ever-behind-the-clock',
    hazard: 'A clock that was set back by a year stops everything for a year.',
    edits: [
      ['ClockWatch.#behind', 'if (after - this.#behindSince < holdMsMax)', 'if (after - this.#behindSince < 1e15)'],
    ],
    suites: ['test/engine/clock-watch.test.ts'],
  },
  {
    id: 'own-leases-taken-back',
    hazard: 'A worker that was held up takes its own runs back instead of keeping them.',
    edits: [['reclaimTick', 'await renewTick(context)', '']],
    suites: [recovery, 'test/engine/reclaim.test.ts'],
  },
  {
    id: 'the-dead-take-the-living-along',
    hazard: 'Taking back from the dead also takes what seems expired after a jump of the clock.',
    edits: [['buryDead', 'deadWorkers: ids, expired: false, limit', 'deadWorkers: ids, limit']],
    suites: ['test/engine/reclaim.test.ts'],
  },
  {
    id: 'the-dead-forgotten-too-soon',
    hazard: 'A dead worker is crossed out while it still holds leases.',
    edits: [['buryDead', 'ids.filter((id) => !left.has(id))', 'ids.filter((id) => !left.has(`${id} `))']],
    suites: ['test/engine/reclaim.test.ts'],
  },
  {
    id: 'leftovers-not-ended',
    hazard: 'A run is given out again while its last attempt still acts.',
    edits: [['buryDead', 'await coroner.endLeftovers(leases)', '']],
    suites: ['test/engine/reclaim.test.ts'],
  },
  {
    id: 'wake-up-lost-and-no-poll',
    hazard: 'Work whose wake-up was lost is never looked for.',
    edits: [['Lessor.#look', '? fullPollMs : settings.pollMs)', '? fullPollMs : 86_400_000)']],
    suites: [recovery, 'test/engine/lease.test.ts'],
  },
  {
    id: 'schedules-without-poll',
    hazard: 'A schedule whose wake-up was lost is never looked for.',
    edits: [
      [
        'Firer.tick',
        'return Math.min((scheduleAt ?? now + pollMs) - now, (holdAt ?? now + pollMs) - now, pollMs)',
        'return Math.max((scheduleAt ?? now + 86_400_000) - now, 0 * pollMs)',
      ],
    ],
    suites: ['test/engine/fire.test.ts', recovery],
  },
  {
    id: 'deaf-and-asleep',
    hazard: 'A worker that hears nothing of other processes sleeps as if it did.',
    edits: [
      [
        'WakeUpWatch.atMost',
        'store.hears() ? waitMs : Math.min(waitMs, deafPollMs)',
        'store.hears() ? waitMs : waitMs',
      ],
    ],
    suites: ['test/engine/duties.test.ts'],
  },
  {
    id: 'wake-up-lost-during-a-tick',
    hazard: 'A wake-up that comes while a loop is at work is forgotten.',
    edits: [['Loop.#run', 'if (waitMs === 0 || this.#isWoken) await', 'if (waitMs === 0) await']],
    suites: ['test/engine/loop.test.ts'],
  },
  {
    id: 'new-work-wakes-nobody',
    hazard: 'Whoever sleeps is not told of new work.',
    edits: [['tells', "  [insertReady, { what: 'work' }],\n", '']],
    suites: [conformance('memory: whatever may start sooner')],
  },
  {
    id: 'earlier-schedule-wakes-nobody',
    hazard: 'Whoever sleeps is not told that a schedule is due sooner than he knows.',
    edits: [['tells', "  [saveSooner, { what: 'schedules' }],\n", '']],
    suites: [conformance('memory: whatever may start sooner')],
  },
  {
    id: 'stopping-worker-takes-more',
    hazard: 'A worker that stops goes on leasing.',
    edits: [['Worker.stop', 'this.#isLeasing = false', 'this.#isLeasing = true']],
    suites: ['test/engine/worker.test.ts', 'test/engine/shutdown.test.ts'],
  },
  {
    id: 'timeout-ignored',
    hazard: 'A run that hangs holds its slot for ever.',
    edits: [['execute', "() => stopHolding(holding, 'timeout'))", '() => undefined)']],
    suites: ['test/engine/execute.test.ts'],
  },
  {
    id: 'stubborn-run-keeps-its-slot',
    hazard: 'A run that does not stop when it is told to holds its slot for ever.',
    edits: [
      [
        'answerOrNothing',
        "clock.after(settings.leaveAfterMs + holding.stopMs, () => resolve('nothing'))",
        'clock.after(settings.leaveAfterMs + holding.stopMs, () => undefined)',
      ],
    ],
    suites: ['test/engine/execute.test.ts'],
  },
  {
    id: 'stopped-run-counts-as-done',
    hazard: 'What a cancelled run still says counts as its end.',
    edits: [
      [
        'outcomeAfter',
        'if (stopped === null || standsAfter(',
        "if (stopped === null || stopped === 'cancelled' || standsAfter(",
      ],
    ],
    suites: ['test/engine/cancel.test.ts', 'test/engine/execute.test.ts'],
  },
  {
    id: 'output-written-after-the-end',
    hazard: 'The end of a run is written before its last output, which the fence then refuses.',
    edits: [['execute', 'return isWritten === undefined ? end : isWritten.then(() => end)', 'return end']],
    suites: ['test/engine/output.test.ts', 'test/engine/execute.test.ts'],
  },
  {
    id: 'stopped-run-hears-nothing',
    hazard: 'A run that is told to stop does not hear it.',
    edits: [['Holding.stop', 'this.#controller?.abort(reason)', '']],
    suites: ['test/engine/cancel.test.ts', 'test/engine/execute.test.ts'],
  },
  {
    id: 'late-listener-hears-nothing',
    hazard: 'A run that asks whether it was stopped, after it was, is told that it was not.',
    edits: [['Holding.signal', 'if (this.stopped !== null) this.#controller.abort(this.stopped)', '']],
    suites: ['test/engine/holdings.test.ts', 'test/engine/execute.test.ts'],
  },
]
