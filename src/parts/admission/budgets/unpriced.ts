import type { Problem } from '../../../operations/input/refuse-input.ts'
import { partsOfKind } from '../../../operations/present-subject.ts'
import type { TargetKind } from '../../../targets/kind.ts'
import type { BudgetFor } from './budget-scope.ts'

/** The kind whose runs a budget counts; undefined where it counts those of something else. */
export function kindOf({ scope, subject }: BudgetFor, kinds: readonly TargetKind[]): TargetKind | undefined {
  return scope === 'kind' ? kinds.find(({ name }) => name === partsOfKind(subject).word) : undefined
}

/** Why nothing tells what such runs cost, by their kind with what the store knows of it; null where something may. */
export function whyUnpriced({ subject }: BudgetFor, kind: TargetKind | undefined): string | null {
  return kind?.unpriced?.(partsOfKind(subject).name ?? '') ?? null
}

/** A budget of money over such runs would count nothing. */
export function unknownCost(why: string): Problem {
  const problem = `counts runs whose cost is unknown: ${why}`
  return { field: 'money', problem, expected: 'perRun.money for an estimate' }
}
