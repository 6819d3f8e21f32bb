interface RunInstants {
  readonly scheduleId: string | null
  readonly occurrenceAt: number | null
  readonly dueAt: number | null
  readonly enqueuedAt: number
}

/** The nominal instant of a schedule's run: that of its occurrence, or the past instant that the run was made for. Other runs have none. */
export function standsFor({ scheduleId, occurrenceAt, dueAt, enqueuedAt }: RunInstants): number | null {
  if (occurrenceAt !== null) return occurrenceAt
  return scheduleId !== null && dueAt !== null && dueAt < enqueuedAt ? dueAt : null
}
