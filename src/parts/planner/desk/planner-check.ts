import type { Finding } from '../../../operations/store/diagnosis.ts'
import { counted, type HealthCheck, wrong } from '../../../operations/store/health-check.ts'
import { analysisKind, plannerQueue } from '../looks/analysis-kind.ts'
import { findPlanner, type PlannerSpec } from '../planner-row.ts'
import { plannerSums } from './planner-steps.ts'

/** Whether a worker can execute the planner's looks here. */
export const plannerCheck: HealthCheck = {
  check: 'planner',
  says: 'Whether the model of the planner can be asked: its packages are installed, and its looks do not all fail.',
  unblocks: 'Install the packages that it names, give the secret, or set another model with `belfry planner set`.',
  stopsNothing: true,
  async look(inspection) {
    const { store, now, live } = inspection
    const planner = await store.look(findPlanner)
    if (planner === null) return { says: 'No model is set; rules work without one.' }
    const { looks, failed } = await store.look(plannerSums)
    const { provider, model } = planner.spec
    const says = `${provider} ${model}: ${counted(looks, 'look')}, ${failed} failed (${new Date(now).toISOString().slice(0, 10)}).`
    const isServed = inspection.canIn(plannerQueue).kinds.includes(`${analysisKind.name}/${provider}`)
    const findings = isServed ? [] : await unserved(planner.spec, live.length)
    if (findings.length > 0) return { says, findings }
    if (looks >= 5 && failed === looks) {
      const all = `All ${looks} looks failed; schedules run on their baselines.`
      return { says, findings: [wrong('planner', all, 'belfry analysis list')] }
    }
    return { says }
  },
}

/** Why no worker takes looks. If no worker is alive, the check can tell only what this machine lacks. */
async function unserved({ provider, model, key }: PlannerSpec, live: number): Promise<Finding[]> {
  const { installCommand, missingPackages } = await import('../models/open-model.ts')
  const missing = missingPackages(provider)
  if (missing.length > 0) {
    const absent = `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed here, so no worker takes looks.`
    return [wrong('planner', absent, installCommand(provider))]
  }
  if (live === 0) return []
  const lacks = key === undefined ? 'its packages' : `its packages or the secret ${key}`
  const next =
    key === undefined
      ? installCommand(provider)
      : `Set BELFRY_SECRET_${key} for a worker, or write .belfry/secrets/${key}.`
  return [wrong('planner', `No live worker takes looks of ${provider} ${model}: each lacks ${lacks}.`, next)]
}
