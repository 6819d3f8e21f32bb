import { isRecord } from '../../core/json/record.ts'
import type { KindStore, TargetKind } from '../../targets/kind.ts'

interface Around {
  readonly store: KindStore
  readonly kinds: readonly TargetKind[]
}

/**
 * The kinds for reading these targets. A kind that depends on stored data reads that data first; without such a target nothing is
 * read from the store.
 */
export function kindsInStore(
  { store, kinds }: Around,
  targets: readonly unknown[],
  declared?: Readonly<Record<string, unknown>>,
): readonly TargetKind[] | Promise<readonly TargetKind[]> {
  const isNamed = ({ name }: TargetKind) => targets.some((target) => isRecord(target) && target[name] !== undefined)
  const asked = kinds.filter((kind) => kind.inStore !== undefined && isNamed(kind))
  if (asked.length === 0) return kinds
  const known = kinds.map(async (kind) =>
    asked.includes(kind) ? ((await kind.inStore?.(store, declared)) ?? kind) : kind,
  )
  return Promise.all(known)
}
