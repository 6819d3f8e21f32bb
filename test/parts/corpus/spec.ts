import type { CorpusSpec } from '../../../src/parts/corpus/corpus-row.ts'

/** A corpus in the store, with the usual settings. */
export const corpusSpec: CorpusSpec = {
  name: 'ranked',
  root: null,
  target: { handler: 'write' },
  targets: {},
  prompts: {},
  cron: '*/30 * * * *',
  zone: 'UTC',
  depthWeight: 0.5,
  architectEvery: 10,
  maxArchive: 20,
  attempts: 5,
  propagateAfterMs: 0,
  autoSeed: [],
  ignore: [],
  drain: false,
  concurrency: 1,
  budget: null,
  phases: null,
}
