import type { CallerKind, RunBounds } from '../../core/caller.ts'
import type { Store } from '../../store/port.ts'
import type { Scope } from '../caller-scope.ts'

/** The caller that a token stands for. */
export interface TokenCaller {
  readonly name: string
  readonly scope: Scope
  readonly kind: CallerKind
  /** The run that the token is bound to; the token ends with the run. */
  readonly within?: RunBounds
}

/**
 * Finds the caller of a token that a part has made: the caller, or why the token is refused; `null` where the token is not one of the
 * part.
 */
export type KnowsToken = (store: Store, token: string) => Promise<TokenCaller | string | null>
