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
