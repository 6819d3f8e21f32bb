import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import { depthWeightDefault } from '../../../core/corpus/rank.ts'
import { cron } from '../../../core/cron/cron.ts'
import { required, target } from '../../../core/field-table.ts'
import { globProblem } from '../../../core/glob.ts'
import type { Target } from '../../../core/target.ts'
import { newName, zone } from '../../../operations/fields/basic-fields.ts'
import { inputShape } from '../../../operations/fields/field-schema.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { targetOf } from '../../../operations/target/target-input.ts'
import type { TargetKind } from '../../../targets/kind.ts'
import type { CorpusSpec, SeedRule } from '../corpus-row.ts'
import { itemPathProblem } from '../tree/document-file.ts'

export const itemPath = noted(
  z.string().refine((path) => itemPathProblem(path) === null),
  { expected: 'the path of an item below the root, such as guide/install, without . and ..; the root itself is .' },
).describe('The path of the item.')

export const pattern = noted(
  z.string().refine((text) => globProblem(text) === null),
  { expected: 'a pattern below the root, such as projects/*/README.md' },
)

const phaseName = noted(z.string().regex(/^[a-z][a-zA-Z0-9]{0,39}$/), { expected: 'a word, such as architect' })

const targetShape = inputShape({ target: required(target({ says: 'What every phase does: exactly one of {kinds}.' })) })

const seedRule = z.strictObject({
  match: pattern.describe('The folders of files that match become items.'),
  steer: z.string().min(1).describe('The steer of these items.').optional(),
  crossRefs: z.array(z.string()).readonly().describe('The references of these items.').optional(),
})

const phaseForm = z.strictObject({
  name: phaseName.describe('Its name.'),
  writes: z
    .array(z.string().regex(/^_[a-z]\w*$/))
    .min(1)
    .max(5)
    .readonly()
    .describe('The fields that it writes, its answer first.'),
  ...durationFields('timeout', 'How long it may take. Default: 6m.'),
})

/** The fields of a corpus, besides its name and its root. */
const tuning = {
  cron: z.string().describe('When it looks for the most stale phase. Default: */30 * * * *.').optional(),
  zone: zone.describe("The time zone of the cron. Default: the caller's.").optional(),
  depthWeight: z.number().min(0).max(10).describe('How much depth counts. Default: 0.5; 0: not at all.').optional(),
  architectEvery: z.int().min(1).max(1_000_000).describe('Cycles between two plans. Default: 10.').optional(),
  maxArchive: z.int().min(1).max(10_000).describe('Snapshots kept for an item. Default: 20.').optional(),
  attempts: z.int().min(1).max(100).describe('Failures before an item is parked. Default: 5.').optional(),
  ...durationFields('propagateAfter', 'How long changes of other items wait after a build. Default: 6h.'),
  autoSeed: z.array(seedRule).max(100).readonly().describe('Folders that become items by themselves.').optional(),
  ignore: z.array(pattern).max(1_000).readonly().describe('Files and folders that are left out.').optional(),
  drain: z.boolean().describe('Whether the end of a phase begins the next. Needs a budget. Default: false.').optional(),
  concurrency: z.int().min(1).max(1_000).describe('Phases at work at once. Default: 1.').optional(),
  budget: noted(
    z.strictObject({
      phases: z.int().min(1).describe('Phases a day.').optional(),
      tokens: z.int().min(1).describe('Tokens a day.').optional(),
    }),
    { hasFlags: true },
  )
    .describe('What it may use a day.')
    .optional(),
  withoutBudget: z.boolean().describe('Says that it drains without a budget on purpose.').optional(),
  prompts: z.record(z.string(), z.string()).describe('Files with the prompts of phases, by phase.').optional(),
  targets: z
    .array(z.strictObject({ phase: phaseName.describe('The phase.'), ...targetShape }))
    .max(6)
    .readonly()
    .describe('The targets of single phases, in place of target.')
    .optional(),
  phases: z
    .array(phaseForm)
    .min(1)
    .max(6)
    .readonly()
    .describe('Its phases in order. Default: architect, builder, critic.')
    .optional(),
}

/** A corpus in a config file. */
export const corpusFields = {
  root: z.string().min(1).describe('The folder of its items. Default: they live in the store.').optional(),
  ...targetShape,
  ...tuning,
}

export const corpusInput = z.strictObject({
  name: newName.max(100).describe('The name of the corpus.'),
  ...corpusFields,
})

export type CorpusGiven = Partial<z.output<typeof corpusInput>>

interface Reading {
  readonly folder: string
  readonly kinds: readonly TargetKind[]
  readonly zone: string
}

/** A corpus as it is stored. What is wrong goes to `problems`. */
export function readCorpus(given: CorpusGiven, around: Reading, problems: Problem[]): CorpusSpec {
  const phases = readPhases(given, problems)
  const names = phases?.map(({ name }) => name) ?? ['architect', 'builder', 'critic']
  const noteUnknown = (phase: string, field: string) => {
    if (!names.includes(phase))
      problems.push({ field, problem: `names ${phase}`, expected: `one of ${names.join(', ')}` })
  }
  const targets = (given.targets ?? []).map((one, index) => {
    noteUnknown(one.phase, `targets[${index}].phase`)
    return [one.phase, readTarget(one.target, `targets[${index}].target`, around, problems)]
  })
  for (const [phase, file] of Object.entries(given.prompts ?? {})) {
    noteUnknown(phase, `prompts.${phase}`)
    if (!existsSync(resolve(around.folder, file))) {
      problems.push({ field: `prompts.${phase}`, problem: `is ${file}, which does not exist here`, expected: 'a file' })
    }
  }
  const { drain = false, budget } = given
  if (drain && budget === undefined && given.withoutBudget !== true) {
    const expected = 'a budget beside it, such as --budget-phases 200; or --without-budget'
    problems.push({ field: 'drain', problem: 'is given without a budget', expected })
  }
  const spec = { cron: given.cron ?? '*/30 * * * *', zone: given.zone ?? around.zone }
  noteBadCron(spec, problems)
  return {
    name: given.name ?? '',
    root: given.root === undefined ? null : realRoot(resolve(around.folder, given.root)),
    target: readTarget(given.target, 'target', around, problems),
    targets: Object.fromEntries(targets) as Record<string, Target>,
    prompts: Object.fromEntries(
      Object.entries(given.prompts ?? {}).map(([phase, file]) => [phase, resolve(around.folder, file)]),
    ),
    ...spec,
    depthWeight: given.depthWeight ?? depthWeightDefault,
    architectEvery: given.architectEvery ?? 10,
    maxArchive: given.maxArchive ?? 20,
    attempts: given.attempts ?? 5,
    propagateAfterMs: durationOf(given, 'propagateAfter', problems) ?? 21_600_000,
    autoSeed: (given.autoSeed ?? []) as readonly SeedRule[],
    ignore: given.ignore ?? [],
    drain,
    concurrency: given.concurrency ?? 1,
    budget: budget ?? null,
    phases,
  }
}

/** The same folder has one name, whatever links lead to it. */
function realRoot(root: string): string {
  try {
    return realpathSync(root)
  } catch {
    return root
  }
}

function readTarget(given: unknown, field: string, { folder, kinds }: Reading, problems: Problem[]): Target {
  const read = targetOf(given, { folder, kinds, field })
  problems.push(...read.problems)
  if ((given === undefined || given === null) && !problems.some((one) => one.field === field)) {
    problems.push({ field, problem: 'is missing', expected: 'an object, such as {"handler":"write"}' })
  }
  return (read.target ?? {}) as Target
}

function noteBadCron({ cron: text, zone: name }: Pick<CorpusSpec, 'cron' | 'zone'>, problems: Problem[]): void {
  try {
    if (!cron(text, name).isNever) return
    problems.push({
      field: 'cron',
      problem: `is ${JSON.stringify(text)}, which never happens`,
      expected: 'one that does',
    })
  } catch (error) {
    problems.push({
      field: 'cron',
      problem: `is wrong: ${(error as Error).message}`,
      expected: 'a cron expression, such as */30 * * * *',
    })
  }
}

const timeoutMsDefault = 360_000

function readPhases({ phases }: CorpusGiven, problems: Problem[]): readonly PhaseForm[] | null {
  if (phases === undefined) return null
  const forms = phases.map((form, index) => {
    const timeoutMs = durationOf(form, 'timeout', problems, `phases[${index}].`) ?? timeoutMsDefault
    return { name: form.name, writes: form.writes, timeoutMs }
  })
  const twice = forms.find(({ name }, index) => forms.findIndex((one) => one.name === name) !== index)
  if (twice !== undefined)
    problems.push({ field: 'phases', problem: `names ${twice.name} twice`, expected: 'each name once' })
  return forms
}
