import { type Hold, holdSubject, isInForce, isMomentary } from '../../core/hold.ts'
import { holdLift, holdSentence, kernelHoldReasons } from '../../core/hold-reason.ts'
import { about } from '../../operations/explain/words.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import { countedAtLeast, type HealthCheck, note } from '../../operations/store/health-check.ts'
import { holdsMax, listHolds } from '../../store/holds/list-holds.ts'

/** `/health` shows this one sentence, so that it names what is held. */
const namedMax = 5

export const holdsInForce: HealthCheck = {
  check: 'holds',
  codes: ['held-by', 'stopped'],
  says: 'Whether a hold keeps work from starting: a stop of everything, or a hold on a queue, kind, schedule or key. Noted while one does. A paused queue is noted by the check `queues`.',
  unblocks:
    'See them: `belfry hold list`. A stop of everything ends with `belfry go`, another hold with `belfry hold lift`.',
  async look({ store, now, context: { holdReasons } }) {
    const found = await store.look(listHolds)
    const holds = found.filter((hold) => isInForce(hold, now) && !isUsual(hold))
    const findings = holds.map((hold) => {
      const { what, words } = holdLift(hold, holdReasons)
      const since = `It has held for ${about(Math.max(0, now - hold.from))}.`
      return note(
        subjectOf(hold),
        `${holdSentence(hold, holdReasons)} ${since}`,
        words.length === 0 ? what : belfryCommand(...words),
      )
    })
    if (holds.length === 0) return { says: 'No hold keeps work from starting.' }
    const count = countedAtLeast(holds.length, found.length === holdsMax, 'hold')
    const named = holds.slice(0, namedMax).map(holdSubject).join(', ')
    return { says: `${count} in force: ${named}${holds.length > namedMax ? ', …' : ''}.`, findings }
  },
}

/**
 * Holds that need no attention: the pause of a queue, which another check reports, a full account, a closed calendar. The hold
 * of a calendar without an end is reported: no worker has renewed it.
 */
function isUsual(hold: Hold): boolean {
  const { scope, reason, until } = hold
  const isPause = scope === 'queue' && reason === kernelHoldReasons.paused.code
  return isPause || isMomentary(hold) || (reason === kernelHoldReasons.calendar.code && until !== null)
}

function subjectOf({ scope, subject }: Hold): string {
  return scope === 'namespace' ? 'everything' : `${scope} ${subject}`
}
