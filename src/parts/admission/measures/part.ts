import type { Expectation } from '../../../core/run/expect.ts'
import { anomaliesIn, usageBreach } from '../../../core/run/expect-usage.ts'
import { attemptName } from '../../../engine/engine-context.ts'
import type { Part } from '../../../part.ts'
import type { Lease } from '../../../store/port.ts'
import { usualOf } from './usual-runs.ts'

declare module '../../../engine/events.ts' {
  interface EngineEvents {
    /** A completed run used far more than the runs of its schedule usually do. */
    'run.unusual': AttemptName & { readonly scheduleId: string; readonly unusual: readonly string[] }
  }
}

function expectOf({ options }: Lease): Expectation {
  return (options.expect as Expectation | undefined) ?? {}
}

/**
 * Compares what a success used with its limits and with earlier runs: above a limit is a failure, far above the usual a
 * warning.
 */
export const measures = {
  name: 'measures',
  judgesFor: (lease) => expectOf(lease).usage !== undefined,
  async judges(lease, { clock }, _, { usage = {} }) {
    const breach = usageBreach(expectOf(lease).usage ?? {}, { ...usage, durationMs: clock.now() - lease.leasedAt })
    // Another attempt would use as much again.
    return breach === null ? null : { fail: breach, retryable: false }
  },
  concludesFor: (lease) => lease.scheduleId !== null && expectOf(lease).anomaly !== undefined,
  async concludes(lease, { store, clock, events }, _, { usage = {} }) {
    const { scheduleId } = lease
    const { anomaly } = expectOf(lease)
    if (scheduleId === null || anomaly === undefined) return undefined
    const measured = { ...usage, durationMs: clock.now() - lease.leasedAt }
    const unusual = anomaliesIn(measured, await store.look(usualOf, scheduleId), anomaly)
    if (unusual.length === 0) return undefined
    await store.appendOutput(lease, unusual.map((text) => `[belfry: unusual ${text}]\n`).join(''))
    events.tell('run.unusual', { ...attemptName(lease), scheduleId, unusual })
    return undefined
  },
  events: {
    'run.unusual': {
      level: 'warn',
      say: ({ runId, unusual }) => `Run ${runId} used far more than usual: ${unusual.join('; ')}.`,
    },
  },
} as const satisfies Part
