import { z } from 'zod'
import { holdSentence, kernelHoldReasons } from '../../../core/hold-reason.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, advice, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { scheduleNow } from '../../../store/reads/find-schedule.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, findCorpusById, phaseNames, systemName } from '../corpus-row.ts'
import { groupsMax, groupsOf, lineOf } from '../items/pick-item.ts'
import { tickMs } from '../phases/phase-ends.ts'
import { phaseRuns, runName } from '../phases/phase-run.ts'
import { standstillOf } from '../phases/standstill.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { watchesOf } from '../watch-row.ts'
import { watchersOf } from '../watcher/watcher-row.ts'

/** The estimated time of a phase, if no duration is known. */
const phaseMsUsual = 61_000

export interface Backlog {
  /** Owed phases of items that are not parked. */
  readonly phases: number
  readonly everyMs: number
  readonly tickMs: number
  readonly drainMs: number
}

/** How many phases are owed, and how long they take at the pace of the ticks and with drain. */
export function* backlogOf(context: StoreContext, corpusId: number): Step<Backlog> {
  const corpus = yield* findCorpusById(context, corpusId)
  if (corpus === null) return { phases: 0, everyMs: 0, tickMs: 0, drainMs: 0 }
  const names = phaseNames(corpus)
  const groups = yield* groupsOf(corpusId)
  const phases = groups
    .filter(({ status }) => status === 'pending' || status === 'running' || status === 'failed')
    .reduce((sum, { phase, items }) => sum + items * (names.length - names.indexOf(phase)), 0)
  const everyMs = tickMs(corpus, yield* clockNow())
  const drainMs = Math.round((phases * (corpus.phaseMs ?? phaseMsUsual)) / corpus.spec.concurrency)
  return {
    phases,
    everyMs,
    // A tick picks nothing while all slots are busy.
    tickMs: Math.max(phases * everyMs, drainMs),
    drainMs,
  }
}

const picked = { path: text('The item.'), phase: text('Its phase.') }

export const statusSchema = z.strictObject({
  name: text('Its name.'),
  root: text('The folder of its items.').nullable(),
  problem: text('Why this process cannot work on its root.').nullable(),
  items: count('Its items.'),
  counts: z.record(z.string(), z.int()).describe('Items by status.'),
  owed: z.record(z.string(), z.int()).describe('Items by their owed phase.'),
  current: z
    .array(z.strictObject({ ...picked, run: text('The run.'), startedAt: instantOutput('When it began.') }))
    .describe('Phases at work.'),
  overrides: count('Triggered runs in line.'),
  next: z
    .array(
      z.strictObject({
        ...picked,
        band: count('Its band.'),
        staleness: z.number().nullable().describe('Weighted seconds.'),
      }),
    )
    .describe('The first of the ranking.'),
  backlog: z
    .strictObject({
      phases: count('Owed phases.'),
      everyMs: count('The time between two ticks.'),
      tickMs: count('How long one phase a tick takes for them.'),
      drainMs: count('About how long they take with drain.'),
    })
    .describe('What is owed, and how long it takes.'),
  freshAt: instantOutput('About when it is fresh at its pace; null where nothing says when it goes on.').nullable(),
  held: z
    .strictObject({ says: advice('Why no phase starts.'), until: instantOutput('When phases start again.').nullable() })
    .nullable()
    .describe('What keeps its phases from starting now.'),
  drain: flag('Whether the end of a phase begins the next.'),
  idle: count('Only every so many ticks look for work.'),
  paused: flag('Whether its tick is paused.'),
  nextTickAt: instantOutput('When the next tick is due.').nullable(),
  scannedAt: instantOutput('When its tree was last walked.').nullable(),
  watches: z
    .array(
      z.strictObject({
        host: text('The machine.'),
        because: text('Why it polls the tree; null where it watches it.').nullable(),
        scannedAt: instantOutput('When a worker there last scanned all of it.'),
      }),
    )
    .describe('How the machines with workers learn of changes in the tree.'),
  watchers: z
    .array(
      z.strictObject({
        host: text('The machine.'),
        url: text('The address of the external watcher.'),
        since: instantOutput('Since when it answers, or fails.').nullable(),
        registeredAt: instantOutput('When it was given the rules of the corpus; null where it has none.').nullable(),
        error: text('Why it fails, as a clause; null where it answers.').nullable(),
        failures: count('Failures in a row.'),
        openUntil: instantOutput('It is not asked before, because it failed too often; null where it is.').nullable(),
        at: instantOutput('When that was last written.'),
      }),
    )
    .describe('What the workers of each machine know of its external watcher.'),
  readsAll: flag('Whether it has so many groups that each pick reads all items.'),
})
export type StatusAnswer = AnswerOf<typeof statusSchema>

export async function statusOf(
  {
    store,
    holdReasons = kernelHoldReasons,
  }: Pick<OperationContext, 'store'> & Partial<Pick<OperationContext, 'holdReasons'>>,
  corpus: Corpus,
): Promise<StatusAnswer> {
  const { spec, name } = corpus
  const { now, hold, ...seen } = await store.look(statusIn, corpus)
  const problem = rootProblem(corpus)
  const held = hold === null ? null : { says: holdSentence(hold, holdReasons), until: hold.until }
  return {
    name,
    root: spec.root,
    problem,
    ...seen,
    freshAt: problem === null ? freshAt(corpus, seen, { now, held }) : null,
    held,
    drain: spec.drain,
    idle: corpus.idle,
    scannedAt: corpus.scannedAt,
  }
}

const dayMs = 86_400_000

/** About when nothing is owed any more: at the pace of the corpus, within its budget, from the end of the hold on. */
function freshAt(
  { spec }: Corpus,
  { backlog, paused }: Pick<StatusAnswer, 'backlog' | 'paused'>,
  { now, held }: { readonly now: number; readonly held: StatusAnswer['held'] },
): number | null {
  if (backlog.phases === 0 || paused || (held !== null && held.until === null)) return null
  const paceMs = spec.drain ? backlog.drainMs : backlog.tickMs
  const { phases: phasesADay } = spec.budget ?? {}
  const days = phasesADay === undefined ? 0 : Math.floor((backlog.phases - 1) / phasesADay)
  return Math.max(now, held?.until ?? now) + Math.max(paceMs, days * dayMs)
}

function* statusIn(context: StoreContext, corpus: Corpus) {
  const { now, ranked, groups } = yield* lineOf(corpus, 3)
  const runs = yield* phaseRuns(corpus.id)
  const { schedule } = yield* scheduleNow(context, systemName(corpus.name))
  const sum = (by: 'status' | 'phase', of: typeof groups) => {
    const counts: Record<string, number> = {}
    for (const group of of) counts[group[by]] = (counts[group[by]] ?? 0) + group.items
    return counts
  }
  const owedGroups = groups.filter(({ status }) => status === 'pending' || status === 'running' || status === 'failed')
  return {
    now,
    items: groups.reduce((all, { items }) => all + items, 0),
    counts: sum('status', groups),
    owed: sum('phase', owedGroups),
    current: runs.flatMap(({ runId, path, phase, startedAt }) =>
      phase === null || startedAt === null ? [] : [{ path, phase, run: runName(runId), startedAt }],
    ),
    overrides: runs.filter(({ mode, phase }) => mode === 'trigger' && phase === null).length,
    next: ranked.map(({ path, phase, band, effectiveStaleness }) => ({
      path,
      phase,
      band,
      staleness: effectiveStaleness,
    })),
    backlog: yield* backlogOf(context, corpus.id),
    paused: schedule?.paused !== null || schedule?.disabled !== null,
    nextTickAt: schedule?.nextRunAt ?? null,
    watches: yield* watchesOf(corpus.id, now),
    watchers: yield* watchersOf(corpus),
    hold: yield* standstillOf(context, corpus),
    readsAll: groups.filter(({ status }) => status === 'pending').length > groupsMax,
  }
}
