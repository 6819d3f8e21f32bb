import type { Hold } from '../../../core/hold.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, systemName } from '../corpus-row.ts'

/** The hold that keeps phases of a corpus from starting now, the one that ends last; null if there is none. */
export function* standstillOf(context: StoreContext, { name }: Pick<Corpus, 'name'>): Step<Hold | null> {
  const now = yield* clockNow()
  const holds = yield* holdsOn(context, { kind: 'corpus', name, queue: systemName(name) })
  const endOf = ({ until }: Hold) => until ?? Number.POSITIVE_INFINITY
  const inForce = holds.filter(({ from }) => from <= now).sort((one, other) => endOf(other) - endOf(one))
  return inForce[0] ?? null
}

/** As a clause, for the results of ticks, which have no words of other parts. */
export function standstillInWords({ reason, until }: Hold): string {
  return `its phases are held (${reason}${until === null ? '' : `, until ${new Date(until).toISOString()}`})`
}
