import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { EngineEvents, Events } from '../../engine/events.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { listQueues } from '../../store/reads/find-queue.ts'
import { queueStats } from '../../store/reads/queue-stats.ts'
import type { QueueStats } from '../../store/views.ts'
import { scheduleFigures } from './schedule-figures.ts'

const lateness = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 3_600]
const queuesMax = 200
type Used = EngineEvents['run.used']
const atLeast = 'a lower bound where belfry_queue_figures_are_at_least is 1.'

/** Metrics for Prometheus. Queue sizes are read from the store at each scrape, so every process reports the same; events are counted by the worker that causes them, so a fleet adds up. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #context: OperationContext
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  readonly #forget: (() => void)[] = []
  readonly #runs: Gauge
  readonly #age: Gauge
  readonly #atLeast: Gauge
  readonly #leftOut: Gauge
  readonly #loop: Gauge

  constructor(context: OperationContext, events: Events) {
    this.#context = context
    this.#delay.enable()
    this.#runs = this.#gauge('belfry_runs', `Runs that have not ended, by queue and state; ${atLeast}`, [
      'queue',
      'state',
    ])
    this.#age = this.#gauge('belfry_queue_oldest_seconds', `How long the oldest run in line has waited; ${atLeast}`, [
      'queue',
    ])
    this.#atLeast = this.#gauge(
      'belfry_queue_figures_are_at_least',
      '1: the queue is too full to count completely, and its figures are lower bounds. 0: they are exact.',
      ['queue'],
    )
    this.#leftOut = this.#gauge(
      'belfry_queues_left_out',
      `Queues after the first ${queuesMax} by name, which have no figures here.`,
    )
    this.#loop = this.#gauge(
      'belfry_event_loop_delay_seconds',
      'The longest block of the event loop since the last scrape.',
    )
    this.#count(events)
  }

  async text(): Promise<string> {
    await this.#look()
    return (await this.#registry.metrics()) + (await scheduleFigures(this.#context.store))
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  close(): void {
    this.#delay.disable()
    for (const forget of this.#forget) forget()
  }

  #gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] })
  }

  #counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] })
  }

  #count(events: Events): void {
    const late = new Histogram({
      name: 'belfry_lateness_seconds',
      help: 'How long after its due instant a run started.',
      labelNames: ['queue'],
      buckets: lateness,
      registers: [this.#registry],
    })
    const ended = this.#counter('belfry_runs_ended_total', 'Runs that this worker ended, by queue and status.', [
      'queue',
      'status',
    ])
    const retries = this.#counter('belfry_retries_total', 'Attempts of this worker that will be retried.', ['queue'])
    const skipped = this.#counter('belfry_occurrences_skipped_total', 'Occurrences that ended without a run.', [
      'reason',
    ])
    const lost = this.#counter('belfry_leases_lost_total', 'Leases that this worker lost.', ['because'])
    const reclaimed = this.#counter(
      'belfry_leases_reclaimed_total',
      'Leases of other workers that this worker reclaimed.',
      ['because'],
    )
    const used = ['kind', 'name'] as const
    const tokens = this.#counter('belfry_tokens_total', 'Tokens that attempts of this worker reported.', [
      ...used,
      'of',
    ])
    const cost = this.#counter('belfry_cost_total', 'Money that attempts of this worker reported.', [
      ...used,
      'currency',
    ])
    const hear = <Name extends Parameters<Events['on']>[0]>(name: Name, heard: (event: never) => void) => {
      events.on(name, heard as never)
      this.#forget.push(() => events.off(name, heard as never))
    }
    hear('run.started', ({ queue, latenessMs }: { queue: string; latenessMs: number }) =>
      late.observe({ queue }, Math.max(0, latenessMs) / 1_000),
    )
    for (const status of ['completed', 'failed', 'parked', 'cancelled', 'skipped'] as const) {
      hear(`run.${status}`, ({ queue }: { queue: string }) => ended.inc({ queue, status }))
    }
    hear('run.retrying', ({ queue }: { queue: string }) => retries.inc({ queue }))
    hear('run.used', ({ kind, name, usage: { tokensIn, tokensOut, tokensCached, money } }: Used) => {
      for (const [of, count] of Object.entries({ in: tokensIn, out: tokensOut, cached: tokensCached })) {
        if (count !== undefined) tokens.inc({ kind, name, of }, count)
      }
      if (money !== undefined) cost.inc({ kind, name, currency: money.currency }, money.amount / 1_000_000)
    })
    hear('run.lease-lost', ({ because }: { because: string }) => lost.inc({ because }))
    hear('run.reclaimed', ({ because }: { because: string }) => reclaimed.inc({ because }))
    hear('schedule.skipped', ({ reason, count }: { reason: string; count: number }) => skipped.inc({ reason }, count))
  }

  async #look(): Promise<void> {
    const { store } = this.#context
    this.#runs.reset()
    this.#age.reset()
    this.#atLeast.reset()
    const queues = await store.look(listQueues)
    this.#leftOut.set(Math.max(0, queues.length - queuesMax))
    for (const { name: queue } of queues.slice(0, queuesMax)) {
      const stats = await store.look(queueStats, queue)
      if (stats === null) continue
      const states = {
        ready: stats.inLine.count,
        waiting: stats.waiting.count,
        blocked: stats.behindKey.count + stats.behindRun.count,
        held: stats.held.count,
        leased: stats.inFlight,
        parked: stats.parked.count,
      }
      for (const [state, count] of Object.entries(states)) this.#runs.set({ queue, state }, count)
      this.#atLeast.set({ queue }, isAtLeast(stats) ? 1 : 0)
      const { now, oldestInLineAt } = stats
      this.#age.set({ queue }, oldestInLineAt === null ? 0 : Math.max(0, now - oldestInLineAt) / 1_000)
    }
    this.#loop.set(this.#delay.max / 1e9)
    this.#delay.reset()
  }
}

function isAtLeast({
  inLine,
  waiting,
  behindKey,
  behindRun,
  held,
  parked,
  oldestInLineIsAtLeast,
}: QueueStats): boolean {
  const counted = [inLine, waiting, behindKey, behindRun, held, parked]
  return oldestInLineIsAtLeast || counted.some(({ countIsAtLeast }) => countIsAtLeast)
}
