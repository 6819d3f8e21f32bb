import { type Capabilities, canExecute, type TargetNeed } from '../../core/plan.ts'
import { needOf, type Target } from '../../core/target.ts'
import type { WorkerView } from '../../store/view.ts'
import type { OperationContext } from '../context.ts'
import { quoted } from '../problem.ts'
import { isLiveAt } from '../worker.ts'
import { plural } from './words.ts'

/** Who is there to fire and to execute, by the store's clock. */
export interface Fleet {
  readonly now: number
  /** All that are known, those that stopped included. */
  readonly workers: readonly WorkerView[]
  readonly live: readonly WorkerView[]
}

export async function fleetOf({ store }: OperationContext): Promise<Fleet> {
  const [workers, now] = await Promise.all([store.read.workers(), store.read.now()])
  return { now, workers, live: workers.filter((worker) => isLiveAt(worker, now)) }
}

/** Who could execute something. */
export interface Takers {
  readonly live: number
  readonly able: number
  /** What a worker must be able to do. */
  readonly needs: string
  readonly sentence: string
}

export function takersOf(target: Target | null | undefined, { live }: Fleet): Takers {
  const answer = needOf(target)
  const need = 'need' in answer ? answer.need : null
  const able = 'need' in answer ? ableAmong(need, live).length : 0
  const needs = 'need' in answer ? needWords(need) : 'a target that can be executed'
  const sentence =
    live.length === 0
      ? 'No worker is alive.'
      : able === 0
        ? `${plural(live.length, 'worker is', 'workers are')} alive, and none has ${needs}: ${offers(live)}.`
        : `${able} of ${plural(live.length, 'live worker', 'live workers')} ${able === 1 ? 'has' : 'have'} ${needs}.`
  return { live: live.length, able, needs, sentence }
}

export function ableAmong(need: TargetNeed | null | undefined, workers: readonly WorkerView[]): WorkerView[] {
  return workers.filter(({ can }) => canExecute(need, can))
}

function needWords(need: TargetNeed | null): string {
  if (need === null) return 'a host for work without a target'
  return need.handler === undefined ? `the target kind ${need.kind}` : `the handler ${quoted(need.handler)}`
}

const offersMax = 8

/** What the live workers can do, for whoever looks for the one that cannot. */
function offers(live: readonly WorkerView[]): string {
  const found = [...new Set(live.flatMap(({ can }) => offersOf(can)))]
  const shown = found.slice(0, offersMax).join(', ')
  if (found.length === 0) return 'they can execute nothing'
  return `they have ${shown}${found.length > offersMax ? ` and ${found.length - offersMax} more` : ''}`
}

function offersOf({ kinds, handlers = [], host }: Capabilities): string[] {
  const named = handlers.map((handler) => `the handler ${quoted(handler)}`)
  return [...named, ...kinds.map((kind) => `the target kind ${kind}`), ...(host === true ? ['hosting'] : [])]
}

/** A worker as people know it. */
export function workerName(id: string | null, { workers }: Fleet): string | null {
  if (id === null) return null
  const found = workers.find((worker) => worker.id === id)
  return found === undefined ? id : `${found.name} on ${found.host} (${id})`
}
