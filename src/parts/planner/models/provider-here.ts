import type { ExecutorHost } from '../../../targets/kind.ts'
import type { PlannerSpec } from '../planner-row.ts'
import { keyOf, missingPackages } from './open-model.ts'

/** Whether this process has the packages and the key of the planner's provider. */
export async function installedFor(spec: PlannerSpec, host: Pick<ExecutorHost, 'secrets'>): Promise<boolean> {
  return missingPackages(spec.provider).length === 0 && (await keyOf(spec, host)) !== null
}
