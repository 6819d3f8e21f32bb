import { z } from 'zod'
import type { Capabilities } from '../../core/queue/plan-leases.ts'
import { defaultQueue } from '../../core/queue/policy.ts'
import { name } from '../../operations/fields/basic-fields.ts'
import { NameSearch } from '../../operations/input/nearest-name.ts'
import { isShown, type Problem } from '../../operations/input/refuse-input.ts'
import { offeredKinds } from '../../operations/target/target-input.ts'
import type { TargetKind } from '../../targets/kind.ts'

const listMax = 1_000
const leasesMax = 1_000

export const queue = name.describe('The queue. Default: default.').optional()

/** Below admin a model may take only work without a target, so that it cannot report a worker's run as done. */
export const adminFields = ['kinds', 'handlers'] as const

/** What a host can execute; without any of it, only work without a target. */
export const capabilityFields = {
  kinds: z
    .array(z.string())
    .max(listMax)
    .readonly()
    .describe('Target kinds that it executes besides work without a target, such as http; KIND/NAME for one executor.')
    .optional(),
  handlers: z.array(name).max(listMax).readonly().describe('Handlers that it executes, by name.').optional(),
}

export const host = name.describe('The name of the host; give each program its own.')
export const leasesLimit = z.int().min(1).max(leasesMax).describe('How many at most. Default: 1.').optional()

interface Given {
  readonly kinds?: readonly string[] | undefined
  readonly handlers?: readonly string[] | undefined
}

/** An unknown kind is most often misspelt, and would never get a run. */
export function kindProblems({ kinds = [] }: Partial<Given>, known: readonly TargetKind[]): Problem[] {
  const names = offeredKinds(known).map((kind) => kind.name)
  const search = new NameSearch()
  return kinds.flatMap((given, index) => {
    const [kind = ''] = given.split('/')
    if (names.includes(kind)) return []
    const meant = search.nearest(kind, names)
    const expected = `${meant === undefined ? '' : `${meant}, if that was meant; `}one of ${names.join(', ')}`
    return [{ field: `kinds[${index}]`, problem: isShown(given), expected }]
  })
}

export function capabilitiesOf({ kinds = [], handlers }: Given): Capabilities {
  return { kinds, ...(handlers !== undefined && { handlers }), host: true }
}

export function queueOf(given: string | undefined): string {
  return given ?? defaultQueue
}
