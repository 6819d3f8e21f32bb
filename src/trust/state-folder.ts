import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** The folder that records what this user trusts: among the user's own files, never in a checkout or a store. */
export function stateFolder({ XDG_STATE_HOME: state = '', HOME: home = '' }: Environment): string {
  // A relative path is ignored: it would begin in the current folder, which may be the checkout
  // itself.
  if (isAbsolute(state)) return join(state, 'belfry')
  return join(isAbsolute(home) ? home : userInfo().homedir, '.local', 'state', 'belfry')
}
