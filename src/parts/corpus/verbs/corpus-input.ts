import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import { depthWeightDefault } from '../../../core/corpus/rank.ts'
import { cron } from '../../../core/cron/cron.ts'
import { required, target } from '../../../core/field-table.ts'
import { globProblem } from '../../../core/glob.ts'
import { type Expectation, expectationProblems } from '../../../core/run/expect.ts'
import { executionFields } from '../../../core/run/work-fields.ts'
import type { Target } from '../../../core/target.ts'
import { newName, zone } from '../../../operations/fields/basic-fields.ts'
import { inputShape } from '../../../operations/fields/field-schema.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { targetOf } from '../../../operations/target/target-input.ts'
import { httpTargetProblems } from '../../../targets/http/http-target.ts'
import type { TargetKind } from '../../../targets/kind.ts'
import { secretForm } from '../../../targets/secret-schema.ts'
import type { CorpusSpec, SeedRule } from '../corpus-row.ts'
import { itemPathProblem } from '../tree/document-file.ts'
import { folderProblem } from '../tree/root-mark.ts'
import type { WatcherSpec } from '../watcher/watcher.ts'

export const itemPath = noted(
  z.string().refine((path) => itemPathProblem(path) === null),
  { expected: 'the path of an item below the root, such as guide/install, without . and ..; the root itself is .' },
).describe('The path of the item.')

export const pattern = noted(
  z.string().refine((text) => globProblem(text) === null),
  { expected: 'a pattern below the root, such as projects/*/README.md' },
)

const phaseName = noted(z.string().regex(/^[a-z][a-zA-Z0-9]{0,39}$/), { expected: 'a word, such as architect' })

const targetShape = inputShape({
  target: required(target({ says: 'What every phase does: exactly one of {kinds}.' })),
  expect: executionFields.expect,
})

const seedRule = z.strictObject({
  match: pattern.describe('The folders of files that match become items.'),
  steer: z.string().min(1).describe('The steer of these items.').optional(),
  crossRefs: z.array(itemPath).max(1_000).readonly().describe('The references of these items.').optional(),
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
  autoSeed: noted(z.array(seedRule).max(100).readonly(), {
    expected: 'a list such as [{"match":"projects/*/README.md","steer":"Short."}]',
  })
    .describe('Folders that become items by themselves.')
    .optional(),
  ignore: z.array(pattern).max(1_000).readonly().describe('Files and folders that are left out.').optional(),
  watcher: noted(
    z.strictObject({
      url: z.string().min(1).describe('Its address; its routes are /walk, /status and /rules/register.'),
      token: secretForm.describe('The secret that it is sent as a bearer token. Default: none.').optional(),
      ...durationFields('timeout', 'How long one answer may take, from 100ms to 5m. Default: 30s.'),
    }),
    { hasFlags: true },
  )
    .describe('An external watcher, which lists the files below the root. Default: Belfry watches them.')
    .optional(),
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
  targets: noted(
    z
      .array(z.strictObject({ phase: phaseName.describe('The phase.'), ...targetShape }))
      .max(6)
      .readonly(),
    { expected: 'a list such as [{"phase":"critic","target":{"handler":"review"}}]' },
  )
    .describe('The targets of single phases, in place of target.')
    .optional(),
  phases: noted(z.array(phaseForm).min(1).max(6).readonly(), {
    expected: 'a list such as [{"name":"writer","writes":["_content"],"timeout":"5m"}]',
  })
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

/** A corpus as it is stored. Problems are added to `problems`. */
export function readCorpus(given: CorpusGiven, around: Reading, problems: Problem[]): CorpusSpec {
  const phases = readPhases(given, problems)
  const names = phases?.map(({ name }) => name) ?? ['architect', 'builder', 'critic']
  const noteUnknown = (phase: string, field: string) => {
    if (!names.includes(phase))
      problems.push({ field, problem: `names ${phase}`, expected: `one of ${names.join(', ')}` })
  }
  const whole = readTarget(given, '', around, problems)
  const single = (given.targets ?? []).map((one, index) => {
    noteUnknown(one.phase, `targets[${index}].phase`)
    return [one.phase, readTarget(one, `targets[${index}].`, around, problems)] as const
  })
  const expects = single.flatMap(([phase, { expect }]) => (expect === undefined ? [] : [[phase, expect]]))
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
  const watcher = readWatcher(given, problems)
  const spec = { cron: given.cron ?? '*/30 * * * *', zone: given.zone ?? around.zone }
  noteBadCron(spec, problems)
  return {
    name: given.name ?? '',
    root: given.root === undefined ? null : realRoot(resolve(around.folder, given.root)),
    ...whole,
    targets: Object.fromEntries(single.map(([phase, one]) => [phase, one.target])),
    ...(expects.length > 0 && { expects: Object.fromEntries(expects) }),
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
    ...(watcher !== null && { watcher }),
    drain,
    concurrency: given.concurrency ?? 1,
    budget: budget ?? null,
    phases,
  }
}

/** A root must be a folder here: this process writes the mark, and scans it. */
export function noteBadRoot({ root }: Pick<CorpusSpec, 'root'>, problems: Problem[]): void {
  const wrong = root === null ? null : folderProblem(root)
  if (wrong !== null)
    problems.push({
      field: 'root',
      problem: `is ${root}, which ${wrong}`,
      expected: 'a folder that this process can write',
    })
}

const watcherMs = { min: 100, max: 300_000, default: 30_000 }

function readWatcher({ watcher, root }: CorpusGiven, problems: Problem[]): WatcherSpec | null {
  if (watcher === undefined) return null
  const { url, token } = watcher
  // A value that is not a text was already refused by the schema.
  if (typeof url !== 'string') return null
  const found: Problem[] = []
  if (root === undefined)
    found.push({
      field: 'watcher',
      problem: 'is given without a root',
      expected: 'a root beside it, whose files it lists',
    })
  const headers = token === undefined ? {} : { headers: { authorization: token } }
  for (const { field, ...rest } of httpTargetProblems({ http: { url, ...headers } }))
    found.push({ field: field === 'http.url' ? 'watcher.url' : 'watcher.token', ...rest })
  if (URL.canParse(url) && new URL(url).search !== '')
    found.push({ field: 'watcher.url', problem: 'has a query', expected: 'an address to which /walk can be added' })
  const timeoutMs = durationOf(watcher, 'timeout', found, 'watcher.') ?? watcherMs.default
  if (timeoutMs < watcherMs.min || timeoutMs > watcherMs.max)
    found.push({ field: 'watcher.timeout', problem: `is ${timeoutMs} ms`, expected: 'from 100ms to 5m' })
  problems.push(...found)
  return { url: url.replace(/\/+$/, ''), ...(token !== undefined && { token }), timeoutMs }
}

/** The real path, so that a folder has one name although links lead to it. */
function realRoot(root: string): string {
  try {
    return realpathSync(root)
  } catch {
    return root
  }
}

/** A target with what it must answer. `before` is the way to its fields. */
function readTarget(
  { target: given, expect }: { readonly target?: unknown; readonly expect?: unknown },
  before: string,
  { folder, kinds }: Reading,
  problems: Problem[],
): Pick<CorpusSpec, 'target' | 'expect'> {
  const field = `${before}target`
  const { target: read, kind, problems: found } = targetOf(given, { folder, kinds, field })
  problems.push(...found)
  if ((given === undefined || given === null) && !problems.some((one) => one.field === field)) {
    problems.push({ field, problem: 'is missing', expected: 'an object, such as {"handler":"write"}' })
  }
  const stored = { target: (read ?? {}) as Target }
  if (expect === undefined) return stored
  for (const problem of expectationProblems(expect, kind))
    problems.push({ ...problem, field: `${before}${problem.field}` })
  for (const rule of ['noop', 'usage', 'anomaly']) {
    if ((expect as Readonly<Record<string, unknown>> | null)?.[rule] === undefined) continue
    const expected = 'leave it out: a phase always has work, and a budget bounds what it uses'
    problems.push({ field: `${before}expect.${rule}`, problem: 'means nothing for a phase', expected })
  }
  return { ...stored, expect: expect as Expectation }
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
/**
 * Fields that only a person sets or only Belfry writes. A model that wrote them could give itself orders, or remove the guards of its
 * document.
 */
const reservedFields: ReadonlySet<string> = new Set(
  `_id _steer _crossRefs _depth _emphasis _disabled _generatedAt _structureHash _synthesisCount _phaseState _error _revision
  _commit _inputs _archived _archivedAt _rejected`.split(/\s+/),
)

function readPhases({ phases }: CorpusGiven, problems: Problem[]): readonly PhaseForm[] | null {
  if (phases === undefined) return null
  const forms = phases.map((form, index) => {
    const timeoutMs = durationOf(form, 'timeout', problems, `phases[${index}].`) ?? timeoutMsDefault
    const foreign = form.writes.filter((field) => reservedFields.has(field))
    if (foreign.length > 0) {
      const expected = 'fields of its own: these are set by a person or by Belfry'
      problems.push({ field: `phases[${index}].writes`, problem: `has ${foreign.join(', ')}`, expected })
    }
    return { name: form.name, writes: form.writes, timeoutMs }
  })
  const twice = forms.find(({ name }, index) => forms.findIndex((one) => one.name === name) !== index)
  if (twice !== undefined)
    problems.push({ field: 'phases', problem: `names ${twice.name} twice`, expected: 'each name once' })
  return forms
}
