import { BelfryError } from '../error.ts'

/** The version of a schedule that its writer has seen. */
interface Seen {
  readonly ifVersion?: number
  readonly ifId?: string
}

/** Refuses to create a schedule for a caller that has seen one of this name. */
export function refuseUnseen(name: string, { ifVersion, ifId }: Seen): void {
  if (ifVersion === undefined && ifId === undefined) return
  const what = ifVersion === undefined ? `the id ${ifId}` : `version ${ifVersion}`
  throw new BelfryError('not-found', `There is no schedule ${name} that could have ${what}.`, {
    details: { schedule: name },
  })
}
