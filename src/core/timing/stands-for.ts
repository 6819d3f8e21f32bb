/** What of a run says which instant it stands for. */
interface RunInstants {
  readonly scheduleId: string | null
  readonly occurrenceAt: number | null
  readonly dueAt: number | null
  readonly enqueuedAt: number
}

/**
 * The nominal instant that a run of a schedule stands for: that of its occurrence, or the one that was over when the run was made
 * for it. Other runs stand for none.
 */
export function standsFor({ scheduleId, occurrenceAt, dueAt, enqueuedAt }: RunInstants): number | null {
  if (occurrenceAt !== null) return occurrenceAt
  return scheduleId !== null && dueAt !== null && dueAt < enqueuedAt ? dueAt : null
}
