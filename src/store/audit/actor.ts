/** Who did it, for the audit and for versions. */
export interface Actor {
  readonly name: string
  readonly door: string
}

/** One line of the audit. */
export interface AuditEntry {
  readonly actor: Actor
  /** The noun and what was done to it: `schedule.pause`. */
  readonly verb: string
  /** The noun and its name: `schedule report`. */
  readonly subject: string
  readonly detail?: unknown
}
