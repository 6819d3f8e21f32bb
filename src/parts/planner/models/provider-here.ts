import type { ExecutorHost } from '../../../targets/kind.ts'
import type { PlannerSpec } from '../planner-row.ts'
import { keyOf, missingPackages } from './open-model.ts'

/** Whether this process has what a planner needs: the packages of its provider, and its key. */
export async function installedFor(spec: PlannerSpec, host: Pick<ExecutorHost, 'secrets'>): Promise<boolean> {
  return missingPackages(spec.provider).length === 0 && (await keyOf(spec, host)) !== null
}
