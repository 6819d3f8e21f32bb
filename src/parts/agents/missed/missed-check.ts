import type { HealthCheck } from '../../../operations/store/health-check.ts'
import { counted, note } from '../../../operations/store/health-check.ts'
import { missedOf } from './missed-rows.ts'

/** One finding for all missed runs, because a person decides about them together. */
export const missedCheck: HealthCheck = {
  check: 'missed',
  says: 'Whether one-shot prompts that came due while no worker ran wait for a decision. A note: they start only when a person says so.',
  unblocks:
    '`belfry missed run` starts one, `belfry missed drop` ends it; `belfry missed drop --all` ends all of them.',
  stopsNothing: true,
  async look({ store }) {
    const found = await store.look(missedOf, {})
    if (found.length === 0) return { says: 'No missed prompt waits for a decision.' }
    const says = `${counted(found.length, 'missed prompt')} ${found.length === 1 ? 'waits' : 'wait'} for your decision.`
    return { says, findings: [note('missed', says, 'belfry missed list')] }
  },
}
