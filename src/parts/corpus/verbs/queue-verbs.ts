import { z } from 'zod'
import { transition } from '../../../core/corpus/phases.ts'
import { BelfryError } from '../../../core/error.ts'
import { holdSentence } from '../../../core/hold-reason.ts'
import { operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import {
  type AnswerOf,
  advice,
  count,
  flag,
  instantOutput,
  outputOf,
  text,
} from '../../../operations/schema/output-schema.ts'
import { findRun } from '../../../store/reads/find-run.ts'
import { cancelRun } from '../../../store/runs/cancel-run.ts'
import { clockNow, type Step, StepAgain } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, lockCorpus, phaseNames, saveCorpusCounts } from '../corpus-row.ts'
import { unreadable } from '../items/edit-item.ts'
import { findItem, type Item, placed, saveItems } from '../items/item-row.ts'
import { itemPage } from '../items/list-items.ts'
import { lineOf } from '../items/pick-item.ts'
import { stopWork } from '../phases/phase-ends.ts'
import { orderPhase, type PhaseOrder, type PhaseRun, phaseRuns, runName, takePhaseRuns } from '../phases/phase-run.ts'
import { standstillOf } from '../phases/standstill.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { itemPath } from './corpus-input.ts'
import { lookedItem } from './item-verbs.ts'
import { corpusName, doors, presentIn } from './present-corpus.ts'
import { showAborted, showCleared, showQueue, showReleased, showTriggered } from './show.ts'

const common = { noun: 'corpus', takes: ['name'], doors } as const
const acting = {
  ...common,
  effect: 'write',
  scope: 'operate',
  errors: ['invalid', 'not-found', 'conflict'],
} as const

const triggeredSchema = z.strictObject({
  status: z.enum(['queued', 'skipped']).describe('Whether it is in line; skipped where nothing is owed.'),
  path: text('The item.').nullable(),
  phase: text('The phase that is owed now.').nullable(),
  run: text('Its run.').nullable(),
  created: flag('Whether this call made the run.'),
  position: count('Its place among triggered runs, from 0.'),
  held: z
    .strictObject({ says: advice('Why it waits.'), until: instantOutput('When it may start.').nullable() })
    .nullable()
    .describe('What keeps its run from starting now.'),
})
export type TriggeredAnswer = AnswerOf<typeof triggeredSchema>

export const trigger = operation({
  ...acting,
  verb: 'trigger',
  takes: ['name', 'path'],
  says: 'Run the owed phase of an item now, before the ranking; without an item the first of the ranking.',
  request: 'a trigger',
  input: z.strictObject({
    name: corpusName,
    path: itemPath.optional(),
    toCompletion: z.boolean().describe('Go on until the item is fresh. Default: false.').optional(),
    from: z.string().describe('The phase to begin with, whatever is owed.').optional(),
    force: z.boolean().describe('Run a fresh item too, from its first phase. Default: false.').optional(),
  }),
  output: outputOf<TriggeredAnswer>()(triggeredSchema),
  show: showTriggered,
  examples: [{ name: 'faq', path: 'billing/refunds', toCompletion: true }, { name: 'faq' }],
  async run(context, { name, path, toCompletion = false, from, force = false }) {
    const corpus = await presentIn(context, name)
    const names = phaseNames(corpus)
    if (from !== undefined && !names.includes(from)) {
      throw new BelfryError(
        'invalid',
        `The trigger is refused: from is ${JSON.stringify(from)}, not one of ${names.join(', ')}.`,
        {
          details: {
            problems: [
              { field: 'from', problem: `is ${JSON.stringify(from)}`, expected: `one of ${names.join(', ')}` },
            ],
          },
        },
      )
    }
    const item = path === undefined ? null : await lookedItem(context, corpus, path)
    if (item?.status === 'unreadable')
      throw unreadable(corpus, item.path, item.facts.error?.message ?? 'cannot be read')
    const order = { path, from, isToCompletion: toCompletion, isForced: force }
    const triggered = await context.store.do(triggerPhase, name, order)
    return { ...triggered, held: triggered.run === null ? null : await heldBy(context, corpus) }
  },
})

/** What keeps a run of the corpus from starting: a hold, or a root that is not there. */
async function heldBy({ store, holdReasons }: OperationContext, corpus: Corpus): Promise<TriggeredAnswer['held']> {
  const hold = await store.look(standstillOf, corpus)
  if (hold !== null) return { says: holdSentence(hold, holdReasons), until: hold.until }
  const problem = rootProblem(corpus)
  if (problem === null) return null
  return { says: `The root ${corpus.spec.root} ${problem}; a worker must see it.`, until: null }
}

type Triggered = Omit<TriggeredAnswer, 'held'>

interface Wanted {
  readonly path: string | undefined
  readonly from: string | undefined
  readonly isToCompletion: boolean
  readonly isForced: boolean
}

function* triggerPhase(context: StoreContext, name: string, wanted: Wanted): Step<Triggered> {
  const corpus = yield* lockCorpus(context, name)
  const nothing = {
    status: 'skipped',
    path: wanted.path ?? null,
    phase: null,
    run: null,
    created: false,
    position: 0,
  } as const
  if (corpus === null) return nothing
  const path = wanted.path ?? (yield* lineOf(corpus, 1)).ranked[0]?.path
  const item = path === undefined ? null : yield* findItem(corpus.id, path)
  if (item === null) return nothing
  const names = phaseNames(corpus)
  const first = wanted.from ?? (item.phase === '' && wanted.isForced ? names[0] : undefined)
  if (item.phase === '' && first === undefined) return nothing
  const order = { path: item.path, mode: 'trigger', from: first, isToCompletion: wanted.isToCompletion } as const
  yield* withdrawPicked(context, corpus, item)
  const { run, isNew } = yield* orderPhase(context, corpus, order)
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
  const runs = yield* phaseRuns(corpus.id)
  const overrides = overridesIn(runs)
  const standing = runs.find(({ runId }) => runName(runId) === run)?.phase ?? (yield* phaseFrom(context, run))
  const position = Math.max(
    0,
    overrides.findIndex(({ runId }) => runName(runId) === run),
  )
  return {
    status: 'queued',
    path: item.path,
    phase: standing ?? item.phase,
    run,
    created: isNew,
    position,
  }
}
triggerPhase.wakes = () => ({})

/** The phase that a run was enqueued to begin with; null where it takes the one that is owed. */
function* phaseFrom(context: StoreContext, run: string): Step<string | null> {
  return ((yield* findRun(context, run))?.payload as PhaseOrder | undefined)?.from ?? null
}

/**
 * Cancels a run of the item that the tick has enqueued and that has not begun. The trigger replaces the run, so that no part of the request
 * is lost.
 */
function* withdrawPicked(context: StoreContext, corpus: Corpus, item: Item): Step<void> {
  const picked = (yield* phaseRuns(corpus.id)).find((one) => one.path === item.path && one.mode === 'automatic')
  if (picked === undefined || (yield* findRun(context, runName(picked.runId)))?.status !== 'ready') return
  yield* takePhaseRuns([picked.runId])
  const answer = yield* cancelRun(context, runName(picked.runId), 'a trigger takes its place')
  // A worker leased the run in between, so the run goes on.
  if (answer === 'cancel-requested') throw new StepAgain(`Run ${picked.runId} was leased during the trigger.`)
  // A stopped worker gave the run back and wrote nothing about its item.
  if (item.runId === picked.runId) yield* stopWork(corpus, item)
}

function overridesIn(runs: readonly PhaseRun[]): PhaseRun[] {
  return runs.filter(({ mode, phase }) => mode === 'trigger' && phase === null)
}

const inLine = { path: text('The item.'), phase: text('Its phase.').nullable(), run: text('The run.') }
const queueSchema = z.strictObject({
  current: z
    .array(z.strictObject({ ...inLine, startedAt: instantOutput('When it began.') }))
    .describe('Phases at work.'),
  overrides: z
    .array(z.strictObject({ ...inLine, enqueuedAt: instantOutput('When it was asked for.') }))
    .describe('Triggered runs, first in, first out.'),
  automatic: z
    .array(
      z.strictObject({
        path: text('The item.'),
        phase: text('Its phase.'),
        band: count('Its band.'),
        staleness: z.number().nullable().describe('Weighted seconds; null: never generated.'),
        run: text('Its run, where it is enqueued.').nullable(),
      }),
    )
    .describe('The ranking.'),
})
export type QueueAnswer = AnswerOf<typeof queueSchema>

export const queue = operation({
  ...common,
  verb: 'queue',
  effect: 'read',
  scope: 'read',
  errors: ['invalid', 'not-found'],
  says: 'Show what a corpus does now, what was asked for, and what the ranking picks next.',
  request: 'a request for the queue of a corpus',
  input: z.strictObject({
    name: corpusName,
    limit: z.int().min(1).max(100).describe('How many of the ranking. Default: 10.').optional(),
  }),
  output: outputOf<QueueAnswer>()(queueSchema),
  show: showQueue,
  examples: [{ name: 'faq' }],
  async run(context, { name, limit = 10 }) {
    return context.store.look(queueOf, await presentIn(context, name), limit)
  },
})

function* queueOf(context: StoreContext, corpus: Corpus, limit: number): Step<QueueAnswer> {
  const runs = yield* phaseRuns(corpus.id)
  const { ranked } = yield* lineOf(corpus, limit)
  const overrides: QueueAnswer['overrides'][number][] = []
  for (const { path, runId, enqueuedAt } of overridesIn(runs)) {
    const run = runName(runId)
    const phase = (yield* phaseFrom(context, run)) ?? (yield* findItem(corpus.id, path))?.phase
    overrides.push({ path, phase: phase || null, run, enqueuedAt })
  }
  return {
    current: runs.flatMap(({ path, phase, runId, startedAt }) =>
      phase === null || startedAt === null ? [] : [{ path, phase, run: runName(runId), startedAt }],
    ),
    overrides,
    automatic: ranked.map(({ path, phase, band, effectiveStaleness }) => {
      const run = runs.find((one) => one.path === path && one.mode === 'automatic')
      return { path, phase, band, staleness: effectiveStaleness, run: run === undefined ? null : runName(run.runId) }
    }),
  }
}

export const clear = operation({
  ...acting,
  verb: 'clear',
  says: 'Cancel the triggered runs of a corpus that have not begun.',
  request: 'a clearing of triggered runs',
  input: z.strictObject({ name: corpusName }),
  output: z.strictObject({ cleared: count('How many were cancelled.') }),
  show: showCleared,
  examples: [{ name: 'faq' }],
  async run(context, { name }) {
    return context.store.do(clearOverrides, await presentIn(context, name))
  },
})

function* clearOverrides(context: StoreContext, { id }: Corpus): Step<{ cleared: number }> {
  const waiting = overridesIn(yield* phaseRuns(id))
  for (const { runId } of waiting) yield* cancelRun(context, runName(runId), 'cleared')
  return { cleared: waiting.length }
}

export const abort = operation({
  ...acting,
  verb: 'abort',
  takes: ['name', 'path'],
  says: 'Cancel the phases at work, and park their items until they are released.',
  request: 'an abort',
  input: z.strictObject({
    name: corpusName,
    path: itemPath.describe('Only this item. Default: all at work.').optional(),
  }),
  output: z.strictObject({
    status: z.enum(['aborted', 'idle']).describe('Whether any was at work; idle where none was.'),
    items: z
      .array(z.strictObject({ path: text('The item.'), phase: text('Its phase.'), run: text('The run.') }))
      .describe('What was aborted.'),
  }),
  show: showAborted,
  examples: [{ name: 'faq' }],
  async run(context, { name, path }) {
    const corpus = await presentIn(context, name)
    const runs = (await context.store.look(readRuns, corpus.id)).filter(
      (one) => path === undefined || one.path === path,
    )
    const items = runs.flatMap(({ path: of, phase, runId }) =>
      phase === null ? [] : [{ path: of, phase, run: runName(runId) }],
    )
    for (const { run } of items) await context.store.do(cancelRun, run, 'aborted')
    return { status: items.length === 0 ? ('idle' as const) : ('aborted' as const), items }
  },
})

function* readRuns(_: StoreContext, corpusId: number): Step<PhaseRun[]> {
  return yield* phaseRuns(corpusId)
}

export const release = operation({
  ...acting,
  verb: 'release',
  takes: ['name', 'path'],
  says: 'Let a parked item go on, or all of them.',
  request: 'a release',
  input: z.strictObject({
    name: corpusName,
    path: itemPath.optional(),
    all: z.boolean().describe('Every parked item. Default: false.').optional(),
  }),
  output: z.strictObject({ released: z.array(z.string()).describe('The items that go on.') }),
  show: showReleased,
  examples: [
    { name: 'faq', path: 'billing/refunds' },
    { name: 'faq', all: true },
  ],
  async run(context, { name, path, all = false }) {
    const corpus = await presentIn(context, name)
    if ((path === undefined) !== all) {
      throw new BelfryError('invalid', 'The release is refused: give either a path or --all.', {
        hint: `belfry corpus release ${name} --all`,
      })
    }
    if (path !== undefined) await lookedItem(context, corpus, path)
    return context.store.do(releaseItems, name, path)
  },
})

const releasedMax = 10_000

function* releaseItems(context: StoreContext, name: string, path: string | undefined): Step<{ released: string[] }> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { released: [] }
  const one = path === undefined ? null : yield* findItem(corpus.id, path)
  const parked: Item[] =
    path === undefined
      ? yield* itemPage(context, corpus.id, { statuses: ['parked'], limit: releasedMax })
      : one?.status === 'parked' || one?.status === 'failed'
        ? [one]
        : []
  yield* clockNow()
  yield* saveItems(
    parked.map((before) => {
      const state = transition({ phaseState: before.state, event: { type: 'retry' }, phases: phaseNames(corpus) })
      return { before, after: placed({ ...before, state, attempts: 0, reason: null, nextAt: null }, corpus) }
    }),
  )
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return { released: parked.map((item) => item.path) }
}

export const queueOperations = {
  /** Run the owed phase of an item now, before the ranking; without an item the first of the ranking. */
  trigger,
  /** Show what a corpus does now, what was asked for, and what the ranking picks next. */
  queue,
  /** Cancel the triggered runs of a corpus that have not begun. */
  clear,
  /** Cancel the phases at work, and park their items until they are released. */
  abort,
  /** Let a parked item go on, or all of them. */
  release,
}
