import type { CallerKind } from '../../core/caller.ts'

export interface ConfiguredScope {
  readonly source: string
  readonly scope: string
}

export interface NewToken {
  readonly name: string
  readonly hash: string
  readonly scope: string
  /** Who holds it; default `person`. */
  readonly for?: CallerKind
  readonly expiresAt?: number
}

export interface TokenView {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly for: CallerKind
  readonly createdAt: number
  readonly createdBy: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** About when it was last used. */
  readonly usedAt: number | null
  /** The config file that sets its scope. */
  readonly managedBy?: string
}

export interface KnownToken extends TokenView {
  readonly hash: string
  /** By the store's own clock, at the moment of the read. */
  readonly now: number
}

export interface TokenAnswer {
  readonly answer: 'created' | 'exists'
  readonly token: TokenView
}
