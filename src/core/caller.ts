/** Who asks: a person, or an agent, which a model steers. */
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

/** What an agent is bound to that calls with the token of its run. A door sets it from the token, never from the input. */
export interface RunBounds {
  readonly run: string
  /** The attempt, which is the fence of its lease. */
  readonly attempt: number
  /** The root of the checkout that it works in. */
  readonly project: string
  readonly profile: string
  /** 0 for work that a person planned, 1 for what an agent planned in such a run. */
  readonly depth: number
}
