/** The kind of caller: a person, or an agent, which a model steers. */
export const callerKinds = ['person', 'agent'] as const
export type CallerKind = (typeof callerKinds)[number]

/** Follows from the caller's door and token, and cannot be claimed. A caller over MCP is a model, whatever token it has. */
export function callerKind({
  door,
  kind = 'person',
}: {
  readonly door: string
  readonly kind?: CallerKind
}): CallerKind {
  return door === 'mcp' ? 'agent' : kind
}

/** The limits of an agent that calls with the token of its run. A door sets them from the token, never from the input. */
export interface RunBounds {
  readonly run: string
  /** The number of the attempt, which is the fence of its lease. */
  readonly attempt: number
  /** 0 for work that a person planned, 1 for work that an agent planned in such a run. */
  readonly project: string
  readonly profile: string
  /** 0 for work that a person planned, 1 for what an agent planned in such a run. */
  readonly depth: number
}
