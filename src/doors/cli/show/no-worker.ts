import type { Paint } from '../../../operations/show.ts'
import { type Naming, spelled } from '../spelling/spelling.ts'
import type { Session } from '../world.ts'

interface Noted {
  readonly stderr: { write(text: string): unknown }
  readonly own: string
  readonly paint: Paint
  readonly naming: Naming
  /** Whether it is to be said where, because something was written there. */
  readonly saysPlace: boolean
  /** Whether a worker runs there, where that is known already. */
  readonly hasWorker?: boolean | undefined
}

/** Says where something was written, and that nothing will come of it while no worker runs. */
export async function noteAbsentWorker(
  session: Pick<Session, 'kind' | 'place' | 'standing' | 'needsTrust'>,
  { stderr, own, paint, naming, saysPlace, hasWorker }: Noted,
): Promise<void> {
  const { kind, place } = session
  if (saysPlace) stderr.write(`${paint.dim(`${kind}: ${place}`)}\n`)
  if (hasWorker ?? (await session.standing()).hasWorker) return
  const trust = (await session.needsTrust?.()) === true ? `${trustFirst(own, naming)} ` : ''
  const start = `${trust}${spelled('Start one with: belfry up', own, naming)}`
  const [whose, where] = kind === 'store' ? ['this store', ''] : ['the store of this server', ', there']
  stderr.write(`${paint.yellow('note:')} no worker runs on ${whose}, so nothing starts. ${start}${where}\n`)
}

/** A worker refuses the store until then, so that the advice to start one is of no use before. */
export function trustFirst(own: string, naming: Naming): string {
  return `The store lies in a checked-out tree and may have come with it: look at what it would start, then trust it with \`${spelled('belfry trust --store', own, naming)}\`.`
}
