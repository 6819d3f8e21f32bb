import type { Hints } from './governor.ts'

export type HintKind = keyof Hints

export const hintKinds = ['interval', 'oneshot'] as const satisfies readonly HintKind[]

/** A hint that no longer counts, and why. */
export interface EndedHint {
  readonly scheduleId: number
  readonly kind: HintKind
  readonly at: number
  readonly by: 'consumed' | 'replaced' | 'cleared' | 'expired'
}

export function without(hints: Hints, kinds: readonly HintKind[]): Hints {
  return Object.fromEntries(Object.entries(hints).filter(([kind]) => !kinds.includes(kind as HintKind)))
}

/** The hints that have expired by an instant. */
export function expiredKinds(hints: Hints, now: number): HintKind[] {
  return hintKinds.filter((kind) => (hints[kind]?.expiresAt ?? Number.POSITIVE_INFINITY) <= now)
}
