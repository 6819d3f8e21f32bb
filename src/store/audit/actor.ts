/** The author of a change, for the audit log and for versions. */
export interface Actor {
  readonly name: string
  readonly door: string
}

export interface AuditEntry {
  readonly actor: Actor
  /** Noun and action: `schedule.pause`. */
  readonly verb: string
  /** Noun and name: `schedule report`. */
  readonly subject: string
  readonly detail?: unknown
}
