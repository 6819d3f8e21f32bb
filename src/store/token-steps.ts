import type { Actor } from './port.ts'

/** What lets somebody in at the doors of a server. The secret is its holder's; the store knows a hash of it. */
export interface TokenSteps {
  /** Makes a token; a name that a live token has is taken. */
  createToken(token: NewToken, options: { actor: Actor }): Promise<TokenAnswer>
  /** Nobody gets in with it any more, from now on. */
  revokeToken(name: string, options: { actor: Actor }): Promise<'revoked' | 'not-found'>
  /** Notes that somebody came in with it. */
  noteTokenUse(id: string): Promise<void>
}

export interface TokenReads {
  /** The token with this id, also one that is over. */
  token(id: string): Promise<KnownToken | null>
  /**
   * Those that are not revoked, by name, behind a name; on the first page, as far as there is room, then those that are, the newest
   * first. With `revoked` those alone, behind an id.
   */
  tokens(page?: { after?: string; limit?: number; revoked?: boolean }): Promise<TokenView[]>
  /** What a file says of the token of this name, whether or not somebody has made it. */
  scopeSaid(name: string): Promise<ScopeSaid | null>
}

export interface ScopeSaid {
  readonly source: string
  readonly scope: string
}

export interface NewToken {
  readonly name: string
  readonly hash: string
  readonly scope: string
  readonly expiresAt?: number
}

export interface TokenView {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly createdAt: number
  readonly createdBy: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** When it was last used, about. */
  readonly usedAt: number | null
  /** The source whose file says its scope, where one does. */
  readonly managedBy?: string
}

export interface KnownToken extends TokenView {
  readonly hash: string
  /** By the store's own clock, at the moment of the look. */
  readonly now: number
}

export interface TokenAnswer {
  readonly answer: 'created' | 'exists'
  readonly token: TokenView
}
