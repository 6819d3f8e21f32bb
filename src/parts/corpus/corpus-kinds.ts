import { z } from 'zod'
import type { TargetKind } from '../../targets/kind.ts'

const closed = 'is a kind that only a corpus enqueues'
const serving = (name: string) =>
  `A worker must see the root of corpus ${name} and be able to execute its target: \`belfry corpus status ${name}\`.`

/** A phase of an item. Its executor hands the phase's own target to the executor of that kind. */
export const corpusKind: TargetKind = {
  name: 'corpus',
  called: 'a phase of a corpus',
  form: z.strictObject({ corpus: z.strictObject({ path: z.string() }) }),
  problems: () => [],
  words: (target) => `refreshes ${(target.corpus as { path?: unknown }).path} of corpus ${target.lane}`,
  flags: [],
  closed,
  message: 'is a phase of a corpus, which takes no messages',
  startsPrograms: true,
  serving,
  executor: async (host) => (await import('./phases/phase-executor.ts')).corpusExecutor(host),
}

export const corpusTickKind: TargetKind = {
  name: 'corpusTick',
  called: 'a tick of a corpus',
  form: z.strictObject({ corpusTick: z.strictObject({ corpus: z.string() }) }),
  problems: () => [],
  words: ({ lane }) => `picks the phase of corpus ${lane} that is owed most`,
  flags: [],
  closed,
  message: 'is a tick of a corpus, which takes no messages',
  serving,
  timeoutMs: 3_600_000,
  executor: async (host) => (await import('./phases/tick.ts')).tickExecutor(host),
}
