import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { lockCorpus, saveCorpusCounts } from '../corpus-row.ts'

/** Counts a tick, and says whether it is one of those that are left out. */
export function* countTick(context: StoreContext, name: string): Step<'go' | 'idle-backoff'> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return 'go'
  const ticks = corpus.ticks + 1
  yield* saveCorpusCounts({ ...corpus, ticks })
  return ticks % corpus.idle === 0 ? 'go' : 'idle-backoff'
}
