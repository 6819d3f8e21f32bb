import type { Paint } from '../../../operations/show.ts'
import { type Naming, spelled } from '../spelling/spelling.ts'
import type { Session } from '../world.ts'

interface Noted {
  readonly stderr: { write(text: string): unknown }
  readonly own: string
  readonly paint: Paint
  readonly naming: Naming
  /** Whether to print the place, because something was written there. */
  readonly saysPlace: boolean
  /** Whether a worker runs there, where that is known already. */
  readonly hasWorker?: boolean | undefined
}

/** Prints where something was written, and that it does not start while no worker runs. */
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

/** A worker refuses the store until it is trusted, so this advice comes first. */
export function trustFirst(own: string, naming: Naming): string {
  return `The store is in a checked-out tree and may have come with it: check what it would start, then trust it with \`${spelled('belfry trust --store', own, naming)}\`.`
}
