import { z } from 'zod'
import type { Capabilities } from '../../core/plan.ts'
import { defaultQueue } from '../../core/policy.ts'
import { targetKinds } from '../../core/target.ts'
import { name } from '../fields.ts'

const listMax = 1_000
const leasesMax = 1_000

export const queue = name.describe('The queue. Default: default.').optional()

/** What a host says of itself: without any of it, it takes work that has no target, and nothing else. */
export const capabilityFields = {
  kinds: z
    .array(z.enum(targetKinds))
    .max(listMax)
    .readonly()
    .describe('Kinds of targets that it executes besides work without one, such as http.')
    .optional(),
  handlers: z.array(name).max(listMax).readonly().describe('Handlers that it executes, by name.').optional(),
}

export const host = name.describe('The name of the host that asks, one for each program that works at its own pace.')
export const leasesLimit = z.int().min(1).max(leasesMax).describe('How many at most. Default: 1.').optional()

interface Given {
  readonly kinds?: readonly string[] | undefined
  readonly handlers?: readonly string[] | undefined
}

export function capabilitiesOf({ kinds = [], handlers }: Given): Capabilities {
  return { kinds, ...(handlers !== undefined && { handlers }), host: true }
}

export function queueOf(given: string | undefined): string {
  return given ?? defaultQueue
}
