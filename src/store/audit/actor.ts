import { type CallerKind, callerKind, type RunBounds } from '../../core/caller.ts'
import type { Author } from '../../core/schedule/hint-author.ts'

/** The author of a change, for the audit log and for versions. */
export interface Actor {
  readonly name: string
  readonly door: string
  /** Set by the door from the caller's token, never from the input. Absent: a person. */
  readonly kind?: CallerKind
  /** The run that the caller acts in, where it is bound to one. */
  readonly within?: RunBounds
}

export interface AuditEntry {
  readonly actor: Actor
  /** Noun and action: `schedule.pause`. */
  readonly verb: string
  /** Noun and name: `schedule report`. */
  readonly subject: string
  readonly detail?: unknown
}

/** The author for a caller. Belfry's own code, which names no author, acts for a person. */
export function authorOf(actor: Actor | undefined): Author {
  return actor === undefined ? { kind: 'person', name: 'belfry' } : { kind: callerKind(actor), name: actor.name }
}
