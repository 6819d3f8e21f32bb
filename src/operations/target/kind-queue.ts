import type { Target } from '../../core/target.ts'
import { kindOf, type TargetKind } from '../../targets/kind.ts'
import { type Problem, quoted } from '../input/refuse-input.ts'

interface QueueChoice {
  readonly kind: TargetKind | undefined
  /** The queue that the caller names. */
  readonly given: string | null | undefined
  readonly problems: Problem[]
}

/** The queue of work with a target of this kind. */
export function kindQueue({ kind, given, problems }: QueueChoice): string | undefined {
  if (kind?.queue === undefined) return given ?? undefined
  if (given != null && given !== kind.queue) {
    problems.push({
      field: 'queue',
      problem: `is ${quoted(given)}`,
      expected: `${kind.queue}, or leave it out: the target is ${kind.called}`,
    })
  }
  return kind.queue
}

/** The queue that a schedule had before, unless that queue came only from a target that is being replaced. */
export function keptQueue(
  { target, queue }: { readonly target?: Target | null | undefined; readonly queue?: string | undefined },
  kinds: readonly TargetKind[],
): string | undefined {
  return kindOf(target, kinds)?.queue === undefined ? queue : undefined
}
