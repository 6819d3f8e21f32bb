import type { OperationContext } from '../../operations/context.ts'
import { isLiveAt } from '../../operations/worker.ts'
import { quoted } from './command-line.ts'
import type { Paint } from './sheet.ts'
import { spelled } from './spelling.ts'

/** What was typed to name a store. */
export interface Naming {
  readonly store?: string
  readonly schema?: string
  readonly namespace?: string
}

interface Noted {
  readonly stderr: { write(text: string): unknown }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly paint: Paint
  readonly naming: Naming
  /** The store, where something was written to it. */
  readonly named: string | null
}

/** Says where something was written, and that nothing will come of it while no worker runs. */
export async function noteAbsentWorker(
  { store }: OperationContext,
  { stderr, env, paint, naming, named }: Noted,
): Promise<void> {
  if (named !== null) stderr.write(`${paint.dim(`store: ${named}`)}\n`)
  const [workers, now] = await Promise.all([store.read.workers(), store.read.now()])
  if (workers.some((worker) => isLiveAt(worker, now))) return
  const start = spelled(`Start one with: ${upOn(naming)}`, env)
  stderr.write(`${paint.yellow('note:')} no worker runs on this store, so nothing starts. ${start}\n`)
}

/** The command that makes a worker on the same store: `belfry up` alone would look for one from the folder it is typed in. */
function upOn({ store, schema, namespace }: Naming): string {
  const flags = Object.entries({ store: store === undefined ? undefined : withoutPassword(store), schema, namespace })
  const given = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${quoted(value)}`]))
  return ['belfry up', ...given].join(' ')
}

/** A store as it may be shown. */
export function withoutPassword(url: string): string {
  return url
    .replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):.*@/s, '$1:PASSWORD@')
    .replace(/([?&]password=)[^&#]*/i, '$1PASSWORD')
}
