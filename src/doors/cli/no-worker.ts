import type { OperationContext } from '../../operations/context.ts'
import { isLiveAt } from '../../operations/worker.ts'
import type { Paint } from './sheet.ts'
import { type Naming, spelled } from './spelling.ts'

interface Noted {
  readonly stderr: { write(text: string): unknown }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly paint: Paint
  readonly naming: Naming
  /** The store, where something was written to it. */
  readonly named: string | null
}

/** Says where something was written, and that nothing will come of it while no worker runs. */
export async function noteAbsentWorker(
  { store }: OperationContext,
  { stderr, env, paint, naming, named }: Noted,
): Promise<void> {
  if (named !== null) stderr.write(`${paint.dim(`store: ${named}`)}\n`)
  const [workers, now] = await Promise.all([store.read.workers(), store.read.now()])
  if (workers.some((worker) => isLiveAt(worker, now))) return
  const start = spelled('Start one with: belfry up', env, naming)
  stderr.write(`${paint.yellow('note:')} no worker runs on this store, so nothing starts. ${start}\n`)
}
