import { holdsOn } from '../../../store/holds/list-holds.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { lockCorpus, saveCorpusCounts } from '../corpus-row.ts'

/** Counts a tick. Returns why the tick is left out: the budget is spent, or nothing was owed for a while; null if the tick runs. */
export function* countTick(context: StoreContext, name: string): Step<string | null> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return null
  const ticks = corpus.ticks + 1
  yield* saveCorpusCounts({ ...corpus, ticks })
  const now = yield* clockNow()
  const spent = (yield* holdsOn(context, { kind: 'corpus', name })).find(({ reason, from }) => {
    return reason === 'budget' && from <= now
  })
  if (spent !== undefined) {
    return spent.until === null ? 'budget' : `budget, until ${new Date(spent.until).toISOString()}`
  }
  return ticks % corpus.idle === 0 ? null : 'idle-backoff'
}
