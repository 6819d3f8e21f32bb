import { z } from 'zod'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { scheduleNow } from '../../../store/reads/find-schedule.ts'
import { all, both, clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, corpusOf, phaseNames, systemName } from '../corpus-row.ts'
import { groupsMax, groupsOf, lineOf } from '../items/pick-item.ts'
import { tickMs } from '../phases/phase-ends.ts'
import { phaseRuns, runName } from '../phases/phase-run.ts'
import { rootProblem } from '../tree/root-mark.ts'

const findById = both(
  'corpus find by id',
  `select id, ns, name, spec, root_id, version, managed_by, ticks, idle, picks, scanned_at, created_at, created_by, updated_at
    from belfry.corpus where id = $1`,
)

/** About how long a phase takes, where nothing is known of it. */
const phaseMsUsual = 61_000

export interface Backlog {
  /** Phases that are owed, of items that are not parked. */
  readonly phases: number
  readonly everyMs: number
  readonly tickMs: number
  readonly drainMs: number
}

/** How much is owed, and how long that takes at the pace of the ticks and with drain. */
export function* backlogOf(_: StoreContext, corpusId: number): Step<Backlog> {
  const [row] = yield* all(findById, corpusId)
  if (row === undefined) return { phases: 0, everyMs: 0, tickMs: 0, drainMs: 0 }
  const corpus = corpusOf(row)
  const names = phaseNames(corpus)
  const groups = yield* groupsOf(corpusId)
  const phases = groups
    .filter(({ status }) => status === 'pending' || status === 'running' || status === 'failed')
    .reduce((sum, { phase, items }) => sum + items * (names.length - names.indexOf(phase)), 0)
  const everyMs = tickMs(corpus, yield* clockNow())
  return {
    phases,
    everyMs,
    tickMs: phases * everyMs,
    drainMs: Math.round((phases * phaseMsUsual) / corpus.spec.concurrency),
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
  freshAt: instantOutput('About when it is fresh at its pace.').nullable(),
  drain: flag('Whether the end of a phase begins the next.'),
  idle: count('Only every so many ticks look for work.'),
  paused: flag('Whether its tick is paused.'),
  nextTickAt: instantOutput('When the next tick is due.').nullable(),
  scannedAt: instantOutput('When its tree was last walked.').nullable(),
  readsAll: flag('Whether it has so many groups that each pick reads all items.'),
})
export type StatusAnswer = AnswerOf<typeof statusSchema>

export async function statusOf({ store }: Pick<OperationContext, 'store'>, corpus: Corpus): Promise<StatusAnswer> {
  const { spec, name } = corpus
  const { now, ...seen } = await store.look(statusIn, corpus)
  const paceMs = spec.drain ? seen.backlog.drainMs : seen.backlog.tickMs
  return {
    name,
    root: spec.root,
    problem: rootProblem(corpus),
    ...seen,
    freshAt: seen.backlog.phases === 0 ? null : now + paceMs,
    drain: spec.drain,
    idle: corpus.idle,
    scannedAt: corpus.scannedAt,
  }
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
    readsAll: groups.filter(({ status }) => status === 'pending').length > groupsMax,
  }
}
