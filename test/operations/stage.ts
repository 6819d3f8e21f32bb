import { type Desk, verbsAt } from './desk.ts'

/** What cannot be known before: the id of a run, and that of a lease. */
export interface Known {
  readonly id?: string
  readonly lease?: string
}

/** Makes what an example speaks of, and answers what cannot be known before. */
export type Stage = (desk: Desk) => Promise<Known>

export const nothing: Stage = async () => ({})

export const ready: Stage = async ({ context }) =>
  verbsAt(() => context).runs.enqueue({ target: { handler: 'report' } })
