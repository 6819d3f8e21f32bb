import { z } from 'zod'
import type { Target } from '../../src/core/target.ts'
import type { Attempt } from '../../src/targets/attempt.ts'
import type { TargetKind } from '../../src/targets/kind.ts'
import { valueForm } from '../../src/targets/secret-schema.ts'
import { problemAt } from '../../src/targets/target-problem.ts'

/** Two kinds of targets of the sample part. Each is one record, and nothing else knows them. */

interface Bell {
  readonly tone: string
  readonly times: number | string
}

declare module '../../src/operations/target/target-input.ts' {
  interface PartTargets {
    readonly bell: { readonly bell: { readonly tone: string; readonly times?: number; readonly key?: object } }
  }
}

function bellOf({ bell }: Target): Bell {
  return bell as Bell
}

/** What tests wait for while a bell rings. */
export const rung: { until?: Promise<unknown> } = {}

async function ring(attempt: Attempt) {
  const { tone, times } = bellOf(attempt.target)
  attempt.output(`${tone} `.repeat(Number(times)))
  await rung.until
  return { facts: { json: { rung: times } }, result: { rung: times } }
}

/** Bells, each executed by the ringer of its tone. Ringing takes a program. */
export const bellKind: TargetKind = {
  name: 'bell',
  called: 'a bell',
  form: z.strictObject({
    bell: z.strictObject({
      tone: z.string().describe('Which bell.'),
      times: z.int().describe('How often. Default: 1.').optional(),
      key: valueForm.describe('What opens the tower.').optional(),
    }),
  }),
  problems(target) {
    const { tone, times } = bellOf(target)
    return [
      ...(typeof tone === 'string' ? [] : [problemAt('bell.tone', 'is missing', 'the tone of a bell')]),
      ...(Number.isInteger(times) ? [] : [problemAt('bell.times', `is ${times}`, 'how often it rings')]),
    ]
  },
  // A flag gives a text.
  resolved: ({ bell, ...rest }) => ({
    ...rest,
    bell: { ...(bell as Bell), times: Number((bell as Partial<Bell>).times ?? 1) },
  }),
  laneOf: (target) => bellOf(target).tone,
  words: (target) => `rings the ${bellOf(target).tone} bell ${bellOf(target).times} times`,
  flags: [
    { flag: '--bell', value: '<tone>', field: 'bell.tone', says: 'A bell of this tone.' },
    { flag: '--times', value: '<n>', field: 'bell.times', says: 'How often it rings.' },
  ],
  timeoutMs: 60_000,
  leaseMs: 300_000,
  startsPrograms: true,
  serving: (name) => `Hang a ${name} bell.`,
  executor: async () => ({ named: new Map([['low', ring]]) }),
}

/** What only Belfry does. */
export const hushKind: TargetKind = {
  name: 'hush',
  called: 'a hush',
  form: z.strictObject({ hush: z.strictObject({}) }),
  problems: () => [],
  words: () => 'is silent',
  flags: [],
  closed: 'is done by Belfry alone',
  executor: async () => ({ execute: () => ({ facts: {} }) }),
}
