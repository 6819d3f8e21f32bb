import { z } from 'zod'
import { bandOf } from '../../../core/corpus/rank.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { expectationForm } from '../../../operations/target/expectation-form.ts'
import { targetStored } from '../../../operations/target/target-form.ts'
import { secretForm } from '../../../targets/secret-schema.ts'
import { type Corpus, phaseNames } from '../corpus-row.ts'
import type { Item } from '../items/item-row.ts'
import { runName } from '../phases/phase-run.ts'

export const corpusSchema = z.strictObject({
  name: text('Its name.'),
  root: text('The folder of its items.').nullable(),
  target: targetStored,
  targets: z.record(z.string(), targetStored).describe('The targets of single phases.'),
  expect: expectationForm.describe('What the target must answer.').exactOptional(),
  expects: z
    .record(z.string(), expectationForm)
    .describe('What the targets of single phases must answer.')
    .exactOptional(),
  prompts: z.record(z.string(), z.string()).describe('Files with the prompts of phases.'),
  cron: text('When it looks for the most stale phase.'),
  zone: text('The time zone of the cron.'),
  depthWeight: z.number().describe('How much depth counts.'),
  architectEvery: count('Cycles between two plans.'),
  maxArchive: count('Snapshots kept for an item.'),
  attempts: count('Failures before an item is parked.'),
  propagateAfterMs: count('How long changes of other items wait after a build.'),
  autoSeed: z.array(z.record(z.string(), z.unknown())).describe('Folders that become items by themselves.'),
  ignore: z.array(z.string()).describe('Files and folders that are left out.'),
  watcher: z
    .strictObject({
      url: text('Its address.'),
      token: secretForm.exactOptional(),
      timeoutMs: count('How long one answer may take.'),
    })
    .describe('The external watcher that lists its files, where it has one.')
    .exactOptional(),
  drain: flag('Whether the end of a phase begins the next.'),
  concurrency: count('Phases at work at once.'),
  budget: z
    .strictObject({ phases: count('Phases a day.').exactOptional(), tokens: count('Tokens a day.').exactOptional() })
    .nullable()
    .describe('What it may use a day.'),
  phases: z
    .array(
      z.strictObject({
        name: text('Its name.'),
        writes: z.array(z.string()).describe('The fields that it writes.'),
        timeoutMs: count('How long it may take.'),
      }),
    )
    .nullable()
    .describe('Its phases, where they are not architect, builder and critic.'),
  version: count('Grows with each change.'),
  createdAt: instantOutput('When it was created.'),
  createdBy: text('Who created it.'),
})
export type CorpusAnswer = AnswerOf<typeof corpusSchema>

export function corpusAnswer({ spec, version, createdAt, createdBy }: Corpus): CorpusAnswer {
  return { ...spec, version, createdAt, createdBy } as unknown as CorpusAnswer
}

export const itemSchema = z.strictObject({
  path: text('Its path.'),
  status: text('One of fresh, pending, running, failed, parked, disabled and unreadable.'),
  phase: text('The owed phase.').nullable(),
  band: count('Its band: 1 goes first.').nullable(),
  phaseState: z.record(z.string(), z.string()).describe('The state of each phase.'),
  depth: z.number().describe('Its depth, or the one that its document sets.'),
  emphasis: z.number().describe('The weight of its depth.'),
  generatedAt: instantOutput('When it was generated.').nullable(),
  attempts: count('Failures in a row.'),
  nextAt: instantOutput('When it is tried or looked at again.').nullable(),
  reason: text('Why it is parked, or what its last failure was.').nullable(),
  run: text('The run at work on it.').nullable(),
  revision: count('The revision of its document.'),
  tokens: z
    .record(z.string(), z.int())
    .describe('What the last run of each phase used, in tokens, where that is known.'),
})
export type ItemAnswer = AnswerOf<typeof itemSchema>

export function itemAnswer(corpus: Corpus, item: Item): ItemAnswer {
  const { path, status, phase, state, depth, emphasis, generatedAt, attempts, nextAt, runId, revision } = item
  const error = item.facts.error?.message ?? null
  return {
    path,
    status,
    phase: phase === '' ? null : phase,
    band: phase === '' ? null : bandOf(phase, phaseNames(corpus)),
    phaseState: state,
    depth,
    emphasis,
    generatedAt,
    attempts,
    nextAt,
    // The error of a document that cannot be read is newer than the reason for which its item was parked.
    reason: status === 'unreadable' ? error : (item.reason ?? (status === 'failed' ? error : null)),
    run: runId === null ? null : runName(runId),
    revision,
    tokens: { ...item.facts.tokens },
  }
}
