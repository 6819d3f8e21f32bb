import type { WorkerView } from '../../store/views.ts'
import { isProvenDead, ownIdentity, type ProcessIdentity } from '../../store/workers/process-identity.ts'

export const beatsMissedMax = 2

/** What shows whether a worker is alive. */
type Alive = Pick<WorkerView, 'stoppedAt' | 'beatAt' | 'beatMs' | 'process'>

/** Whether a worker is alive: it has not stopped, missed two heartbeats or been found dead. All doors and verbs share this rule, so they agree. */
export function isLiveAt(worker: Alive, now: number): boolean {
  const { stoppedAt, beatAt, beatMs } = worker
  return stoppedAt === null && now - beatAt <= beatsMissedMax * beatMs && !isDead(worker)
}

/** The process is known to be gone, and the worker did not stop cleanly. For workers on other machines, silence proves nothing. */
export function isDead({ stoppedAt, process }: Alive): boolean {
  return stoppedAt === null && process !== null && isProvenDead(process, own())
}

/** The worker's process is known to run on this machine, however old its last heartbeat is. */
export function isHere({ process }: WorkerView): boolean {
  const mine = own()
  return process !== null && mine !== null && isOneMachine(process, mine) && !isProvenDead(process, mine)
}

/** Whether each worker can see the other's process: same machine and same pid namespace. */
export function areSideBySide(a: WorkerView, b: WorkerView): boolean {
  return a.process !== null && b.process !== null && isOneMachine(a.process, b.process)
}

function isOneMachine(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.bootId === b.bootId && a.pidNamespace === b.pidNamespace
}

let self: ProcessIdentity | null | undefined

/** The identity of this process never changes, so it is read once. */
function own(): ProcessIdentity | null {
  if (self === undefined) self = ownIdentity()
  return self
}
