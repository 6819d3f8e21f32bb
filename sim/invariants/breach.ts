/** Something that must never be true was true. */
export class Breach extends Error {
  readonly invariant: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(invariant: string, facts: Readonly<Record<string, unknown>>) {
    super(`${invariant} ${JSON.stringify(facts)}`)
    this.name = 'Breach'
    this.invariant = invariant
    this.facts = facts
  }
}

/** The facts are gathered only when they are needed: this is asked at every step. */
export function demand(holds: boolean, invariant: string, facts: () => Readonly<Record<string, unknown>>): void {
  if (!holds) throw new Breach(invariant, facts())
}
