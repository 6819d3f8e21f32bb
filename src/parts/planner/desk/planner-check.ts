import { counted, type HealthCheck, wrong } from '../../../operations/store/health-check.ts'
import { clockNow } from '../../../store/statement.ts'
import { findPlanner } from '../planner-row.ts'
import { plannerSums } from './planner-steps.ts'

/** Whether the planner can work here. */
export const plannerCheck: HealthCheck = {
  check: 'planner',
  says: 'Whether the model of the planner can be asked: its packages are installed, and its looks do not all fail.',
  unblocks: 'Install the packages that it names, give the secret, or set another model with `belfry planner set`.',
  stopsNothing: true,
  async look({ store }) {
    const planner = await store.look(findPlanner)
    if (planner === null) return { says: 'No model is set; rules work without one.' }
    const { installCommand, missingPackages } = await import('../models/open-model.ts')
    const missing = missingPackages(planner.spec.provider)
    const { looks, failed } = await store.look(plannerSums)
    const now = await store.look(clockNow)
    const says = `${planner.spec.provider} ${planner.spec.model}: ${counted(looks, 'look')}, ${failed} failed (${new Date(now).toISOString().slice(0, 10)}).`
    if (missing.length > 0) {
      const absent = `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed here, so no worker takes looks.`
      return { says, findings: [wrong('planner', absent, installCommand(planner.spec.provider))] }
    }
    if (looks >= 5 && failed === looks) {
      return {
        says,
        findings: [
          wrong('planner', `All ${looks} looks failed; schedules run on their baselines.`, 'belfry analysis list'),
        ],
      }
    }
    return { says }
  },
}
