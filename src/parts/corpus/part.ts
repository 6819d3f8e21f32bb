import type { Part } from '../../part.ts'
import { corpusTables } from './0042-corpus.ts'
import { corpusCheck } from './check-corpora.ts'
import { withTools } from './clients/model-tools.ts'
import { corporaSection } from './corpora-section.ts'
import { corpusKind, corpusTickKind } from './corpus-kinds.ts'
import { phasesEnded } from './phases/phase-ends.ts'
import { countTick } from './phases/tick-count.ts'
import { sweepCorpora } from './sweep-corpora.ts'
import { corpusOperations } from './verbs/corpus-verbs.ts'

/** Corpora: trees of long-lived documents that are refreshed phase by phase, the most stale first. */
export const corpus = {
  name: 'corpus',
  migrations: [corpusTables],
  kinds: [corpusKind, corpusTickKind],
  sourcesKept: ['corpus'],
  ended: phasesEnded,
  config: [corporaSection],
  checks: [corpusCheck],
  sweeps: [sweepCorpora],
  concerns: ({ target }) => target?.corpusTick !== undefined,
  async begins({ target }, { store }) {
    const answer = await store.do(countTick, String(target?.lane))
    return answer === null ? { go: true } : { skip: answer }
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
