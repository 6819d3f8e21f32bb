import type { WorkerView } from '../store/view.ts'
import type { OperationContext } from './context.ts'

/** A worker, and whether it is taken for alive: it has not stopped, and not missed two beats. */
export interface Worker extends WorkerView {
  readonly isLive: boolean
}

const beatsMissedMax = 2

/** Whether a worker is alive by a clock. */
export function isLiveAt({ stoppedAt, beatAt, beatMs }: WorkerView, now: number): boolean {
  return stoppedAt === null && now - beatAt <= beatsMissedMax * beatMs
}

async function list({ store }: OperationContext): Promise<Worker[]> {
  const [workers, now] = await Promise.all([store.read.workers(), store.read.now()])
  return workers.map((worker) => ({ ...worker, isLive: isLiveAt(worker, now) }))
}

/** The verbs of a worker. */
export const workerVerbs = {
  /** Those that have not stopped, oldest first, then those that stopped last. */
  list,
}
