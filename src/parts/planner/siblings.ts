import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'

/** The group of a schedule. */
export function groupOf(spec: Partial<ScheduleSpec>): string | null {
  const { group } = spec as { readonly group?: string }
  return group ?? null
}
