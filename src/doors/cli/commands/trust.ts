import { BelfryError } from '../../../core/error.ts'
import { exitOk } from '../../../operations/error-codes.ts'
import { partTrusts } from '../../../parts-face.ts'
import type { CommandContext, Flags } from '../part.ts'
import { refuseServer, type ServerFlags } from '../session/named-server.ts'
import { trustStore } from './trust-store.ts'

interface TrustFlags extends Omit<ServerFlags, 'store'> {
  readonly json?: true
  readonly file?: string
  /** The store that is named; `true` where the flag stands alone. */
  readonly store?: string | true
  /** Whether the store is to be trusted, and not a file. */
  readonly ofStore?: true
}

/** Trusts a file as it is now, or the store, and shows what that would start. */
export async function trust(given: Flags, around: CommandContext): Promise<number> {
  const { store, ofStore, ...flags } = given as unknown as TrustFlags
  const { world, isJudged } = around
  const naming = { ...flags, ...(typeof store === 'string' && { store }) }
  refuseServer('trust', 'A file is trusted on the machine that has it.', naming, world)
  if (ofStore === true) return isJudged ? exitOk : trustStore(naming, world)
  const [files] = partTrusts
  if (files === undefined) throw new BelfryError('invalid', 'Only a store can be trusted.', { hint: 'Add --store.' })
  return (await files.load())(naming, around)
}
