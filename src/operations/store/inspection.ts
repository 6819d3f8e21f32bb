import type { Capabilities } from '../../core/queue/plan-leases.ts'
import type { ScheduleHealth, StoreCondition } from '../../store/health-views.ts'
import type { Store } from '../../store/port.ts'
import { scheduleHealth } from '../../store/reads/health/schedule-health.ts'
import { listWorkers } from '../../store/reads/list-workers.ts'
import { clockNow } from '../../store/statement.ts'
import type { WorkerView } from '../../store/views.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { workersFor } from '../explain/fleet.ts'
import type { OperationContext } from '../operation-context.ts'
import { isLiveAt } from '../worker/worker-alive.ts'

const pageLimit = 500
const schedulesMax = 10_000

/** The schedules that were checked, and whether more follow. */
export interface Sweep {
  readonly schedules: readonly ScheduleHealth[]
  readonly isCut: boolean
}

/** One reading of a store: each fact is read once, however many checks use it. */
export class Inspection {
  readonly context: OperationContext
  readonly store: Store
  /** Whether the slow checks run too, as with `--deep`. */
  readonly isDeep: boolean
  readonly now: number
  readonly condition: StoreCondition
  readonly workers: readonly WorkerView[]
  readonly live: readonly WorkerView[]
  readonly kinds: readonly TargetKind[]
  /** What the live workers can execute together. */
  readonly can: Capabilities
  /** The same for workers that serve all queues. */
  readonly canAnywhere: Capabilities
  readonly #canIn = new Map<string, Capabilities>()
  #sweep: Promise<Sweep> | undefined

  private constructor(
    context: OperationContext,
    isDeep: boolean,
    read: Pick<Inspection, 'now' | 'condition' | 'workers'>,
  ) {
    this.context = context
    this.store = context.store
    this.kinds = context.kinds
    this.isDeep = isDeep
    this.now = read.now
    this.condition = read.condition
    this.workers = read.workers
    this.live = read.workers.filter((worker) => isLiveAt(worker, read.now))
    this.can = together(this.live)
    this.canAnywhere = together(this.live.filter(({ can }) => can.queues === undefined))
  }

  static async begin(context: OperationContext, isDeep: boolean): Promise<Inspection> {
    const { store } = context
    const [condition, workers, now] = [
      await store.condition(),
      await store.look(listWorkers),
      await store.look(clockNow),
    ]
    return new Inspection(context, isDeep, { now, condition, workers })
  }

  /** What the live workers can execute from a queue: some serve only other queues. */
  canIn(queue: string): Capabilities {
    const known = this.#canIn.get(queue) ?? together(workersFor(queue, this.live))
    this.#canIn.set(queue, known)
    return known
  }

  sweep(): Promise<Sweep> {
    this.#sweep ??= this.#readSchedules()
    return this.#sweep
  }

  async #readSchedules(): Promise<Sweep> {
    const schedules: ScheduleHealth[] = []
    while (schedules.length < schedulesMax) {
      const after = schedules.at(-1)?.name
      const page = await this.store.look(scheduleHealth, {
        limit: pageLimit,
        ...(after === undefined ? {} : { after }),
      })
      schedules.push(...page)
      if (page.length < pageLimit) return { schedules, isCut: false }
    }
    return { schedules, isCut: true }
  }
}

function together(workers: readonly WorkerView[]): Capabilities {
  const all = workers.map(({ can }) => can)
  return {
    kinds: [...new Set(all.flatMap(({ kinds }) => kinds))],
    handlers: [...new Set(all.flatMap(({ handlers = [] }) => handlers))],
    host: all.some(({ host }) => host === true),
  }
}
