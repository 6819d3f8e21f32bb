import type { Part } from '../../part.ts'
import { corpusTables } from './0042-corpus.ts'
import { corpusSnapshots } from './0047-corpus-snapshots.ts'
import { corpusWatchTable } from './0049-corpus-watch.ts'
import { corpusStamps } from './0052-corpus-stamps.ts'
import { corpusWatcherTable } from './0053-corpus-watcher.ts'
import { corpusInputs } from './0063-corpus-inputs.ts'
import { corpusCheck } from './check-corpora.ts'
import { withTools } from './clients/model-tools.ts'
import { corporaSection } from './corpora-section.ts'
import { corpusKind, corpusTickKind } from './corpus-kinds.ts'
import { phasesEnded } from './phases/phase-ends.ts'
import { countTick } from './phases/tick-count.ts'
import { sweepCorpora } from './sweep-corpora.ts'
import { lookAtPrompts } from './tree/prompt-inputs.ts'
import { corpusOperations } from './verbs/corpus-verbs.ts'
import { watcherProblem } from './watcher/known-watchers.ts'

/** Corpora: trees of long-lived documents that are refreshed phase by phase, the most stale document first. */
export const corpus = {
  name: 'corpus',
  migrations: [corpusTables, corpusSnapshots, corpusWatchTable, corpusStamps, corpusWatcherTable, corpusInputs],
  kinds: [corpusKind, corpusTickKind],
  sourcesKept: ['corpus'],
  ended: phasesEnded,
  config: [corporaSection],
  checks: [corpusCheck],
  sweeps: [sweepCorpora],
  concerns: ({ target }) => target?.corpusTick !== undefined,
  explainsRun: async (_, { target, result }) => {
    const { says } = (target?.corpusTick === undefined ? {} : (result?.value ?? {})) as { says?: unknown }
    return typeof says === 'string' ? [says] : []
  },
  async begins({ target }, { store }) {
    const name = String(target?.lane)
    // Before the tick is counted, so that an edited prompt ends the backoff of idle ticks.
    await lookAtPrompts(store, name)
    const answer = await store.do(countTick, name)
    if (answer === null) return { go: true }
    // A watcher that has restarted gets its rules again now, even if nothing is owed.
    const problem = await watcherProblem(store, name)
    return problem === null ? { skip: answer } : { fail: problem, retryable: false }
  },
  origins: {
    corpus: {
      sentence: () => 'A corpus enqueued it: a phase of one of its items was owed, or asked for.',
      asked: 'by a corpus',
      about: ({ payload }) => String((payload as { path?: unknown } | null)?.path ?? ''),
    },
  },
  routes: async () => (await import('./clients/original-routes.ts')).addOriginalRoutes,
  mcp: {
    options: [
      { flags: '--corpus <NAME>', says: 'Offer the tools of one corpus too: meta_status, meta_list and others.' },
    ],
    load: async () => (await import('./clients/model-tools.ts')).modelOfCorpus,
  },
  nouns: {
    corpus: {
      says: 'Corpora: trees of documents that are refreshed phase by phase, the most stale first.',
      plural: 'corpora',
      operations: withTools(corpusOperations),
      otherWords: {
        corpora: 'corpus list',
        'corpus ls': 'list',
        'corpus new': 'create',
        'corpus rm': 'delete',
        'corpus remove': 'delete',
        'corpus edit': 'update',
        'corpus synthesize': 'trigger',
        'corpus run': 'trigger',
      },
    },
  },
} as const satisfies Part
