import { BelfryError } from '../../../core/error.ts'
import { exitOk } from '../../../operations/error-codes.ts'
import { partTrusts } from '../../../parts-face.ts'
import type { CommandContext, Flags } from '../part.ts'
import { refuseServer, type ServerFlags } from '../session/named-server.ts'
import { trustStore } from './trust-store.ts'

interface TrustFlags extends Omit<ServerFlags, 'store'> {
  readonly json?: true
  readonly file?: string
  /** The named store; `true` for the flag without a value. */
  readonly store?: string | true
  /** Whether to trust the store instead of a file. */
  readonly ofStore?: true
}

/** Trusts a file at its current content, or the store, and shows what it would start. */
export async function trust(given: Flags, around: CommandContext): Promise<number> {
  const { store, ofStore, ...flags } = given as unknown as TrustFlags
  const { world, isJudged } = around
  const naming = { ...flags, ...(typeof store === 'string' && { store }) }
  refuseServer('trust', 'Trust a file on the machine that has it.', naming, world)
  if (ofStore === true) return isJudged ? exitOk : trustStore(naming, world)
  const [files] = partTrusts
  if (files === undefined) throw new BelfryError('invalid', 'Only a store can be trusted.', { hint: 'Add --store.' })
  return (await files.load())(naming, around)
}
