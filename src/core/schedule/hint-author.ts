/**
 * Who steers a schedule. The kind follows from the caller and cannot be given as input: Belfry's own code sets `rule` and `planner`.
 */
export const authorKinds = ['person', 'rule', 'planner', 'agent'] as const
export type AuthorKind = (typeof authorKinds)[number]

/** The author of a hint or of a pause. */
export interface Author {
  readonly kind: AuthorKind
  readonly name: string
}

const ranks: Readonly<Record<AuthorKind, number>> = { person: 0, rule: 1, planner: 2, agent: 2 }

/** The rank of an author, 0 the highest. Planners and agents share one. Absent: a person. */
export function rankOf(kind: AuthorKind = 'person'): number {
  return ranks[kind]
}

/** Each rank in words, the highest first. */
export const rankNames = ['a person', 'a rule', 'a planner or an agent'] as const

export function isPerson(kind: AuthorKind = 'person'): boolean {
  return kind === 'person'
}
