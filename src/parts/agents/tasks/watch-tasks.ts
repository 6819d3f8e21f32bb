import { join } from 'node:path'
import type { Flags, WorkerPart, WorkerPartContext } from '../../../doors/cli/part.ts'

const fileName = 'tasks.json'

/**
 * Lets a worker apply the tasks in its `.belfry` folder as it applies its config file: read-only, and only after a person has trusted them.
 */
export async function watchTasks({ config }: Flags, { place, world }: WorkerPartContext): Promise<WorkerPart> {
  if ((config ?? world.env.BELFRY_CONFIG) === 'none') return {}
  const path = join(place.belfryFolder, fileName)
  return { begin: async (worker) => void (await worker.method('watch', path, { isFound: true, isPolled: true })) }
}
