import type { Policy } from '../../src/core/queue/policy.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'

interface Queue {
  readonly id: number
  name: string
  policy: Policy
  inFlight: number
  readonly ofKey: Map<string, number>
  /** When the runs of this queue were leased, since its rate was last changed. */
  starts: number[]
}

/** The ceilings of queues and keys, counted by what really lies in the store. */
export class Queues {
  readonly #queues = new Map<number, Queue>()
  /** A clock that was set makes instants of before and after incomparable. */
  isClockSteady = true

  get(id: number): Queue {
    const queue = this.#queues.get(id)
    if (queue === undefined) throw new Error(`There is no queue ${id}.`)
    return queue
  }

  all(): Iterable<Queue> {
    return this.#queues.values()
  }

  changed({ after }: Extract<Change, { table: 'queue' }>): void {
    if (after === null) return
    const policy = JSON.parse(after.policy) as Policy
    const known = this.#queues.get(after.id)
    if (known === undefined) {
      const fresh = { id: after.id, name: after.name, policy, inFlight: 0, ofKey: new Map(), starts: [] }
      this.#queues.set(after.id, fresh)
      return
    }
    if (JSON.stringify(known.policy.rateLimit) !== JSON.stringify(policy.rateLimit)) known.starts = []
    known.policy = policy
  }

  /** A lowered ceiling revokes nothing, so what counts is the ceiling at the moment of each grant. */
  leased(row: Rows['lease']): void {
    const queue = this.get(row.queue_id)
    const { maxConcurrent, maxConcurrentPerKey, rateLimit } = queue.policy
    queue.inFlight++
    const told = () => ({ queue: queue.name, inFlight: queue.inFlight, policy: queue.policy, run: row.run_id })
    demand(queue.inFlight <= maxConcurrent, 'the ceiling was never passed', told)
    const key = row.concurrency_key
    if (key !== null) {
      const ofKey = (queue.ofKey.get(key) ?? 0) + 1
      queue.ofKey.set(key, ofKey)
      const most = maxConcurrentPerKey ?? Number.POSITIVE_INFINITY
      demand(ofKey <= most, 'the ceiling of a key was never passed', () => ({ ...told(), key, ofKey }))
    }
    if (rateLimit === undefined || !this.isClockSteady) return
    queue.starts = queue.starts.filter((at) => at > row.leased_at - rateLimit.perMs)
    queue.starts.push(row.leased_at)
    demand(queue.starts.length <= rateLimit.startsMax, 'the rate was never passed', told)
  }

  unleased(row: Rows['lease']): void {
    const queue = this.get(row.queue_id)
    queue.inFlight--
    if (row.concurrency_key !== null) {
      queue.ofKey.set(row.concurrency_key, (queue.ofKey.get(row.concurrency_key) ?? 0) - 1)
    }
  }
}
