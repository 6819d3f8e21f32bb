import { BelfryError } from '../../core/error.ts'
import { writeAudit } from '../../store/audit/write-audit.ts'
import { boundWork } from '../../store/bound-work.ts'
import { canonicalJson, checkActor } from '../../store/check.ts'
import { refuseManaged } from '../../store/managed.ts'
import type { Actor } from '../../store/port.ts'
import { setQueue } from '../../store/queues/set-queue.ts'
import { cancelRun } from '../../store/runs/cancel-run.ts'
import { deleteSchedule } from '../../store/schedules/delete-schedule.ts'
import { putSchedule } from '../../store/schedules/put-schedule.ts'
import { both, clockNow, freshIds, one, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { type Corpus, type CorpusSpec, findCorpus, listCorpora, lockCorpus, systemName } from './corpus-row.ts'
import { markAll } from './items/item-row.ts'
import { phaseRuns, runName } from './phases/phase-run.ts'

const insertCorpus = both(
  'corpus insert',
  `insert into belfry.corpus (id, ns, name, spec, root, root_id, version, managed_by, created_at, created_by, updated_at)
    values ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $8) on conflict (ns, name) where deleted_at is null do nothing returning id`,
)
const updateCorpus = both(
  'corpus update',
  'update belfry.corpus set spec = $2, version = version + 1, updated_at = $3, managed_by = $4, idle = 1 where id = $1',
)
const markDeleted = both('corpus mark deleted', 'update belfry.corpus set deleted_at = $2 where id = $1')
const removeRows = [
  both('corpus remove items', 'delete from belfry.corpus_item where corpus_id = $1'),
  both('corpus remove groups', 'delete from belfry.corpus_group where corpus_id = $1'),
  both('corpus remove refs', 'delete from belfry.corpus_ref where corpus_id = $1'),
  both('corpus remove runs', 'delete from belfry.corpus_run where corpus_id = $1'),
  both('corpus remove snapshots', 'delete from belfry.corpus_snapshot where corpus_id = $1'),
  both('corpus remove watches', 'delete from belfry.corpus_watch where corpus_id = $1'),
  both('corpus remove watchers', 'delete from belfry.corpus_watcher where corpus_id = $1'),
  both('corpus remove gone', 'delete from belfry.corpus_gone where corpus_id = $1'),
]

export interface CorpusWriting {
  readonly actor: Actor
  /** `create` refuses a name that exists with another definition. */
  readonly mode: 'create' | 'put'
  readonly rootId: string
  /** The config file that makes the change. */
  readonly source?: string
}

export interface CorpusWritten {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'exists'
  readonly corpus: Corpus
  readonly before: CorpusSpec | null
}

/** Creates a corpus or changes it, with its tick and its queue. */
export function* putCorpus(context: StoreContext, spec: CorpusSpec, writing: CorpusWriting): Step<CorpusWritten> {
  const { actor, mode, rootId, source } = writing
  checkActor(actor)
  const now = yield* clockNow()
  const found = yield* lockCorpus(context, spec.name)
  if (found === null) {
    yield* refuseTakenRoot(context, spec)
    const [id] = (yield* freshIds(1)) as [number]
    const values = [id, context.ns, spec.name, JSON.stringify(spec), spec.root, rootId, source ?? null, now, actor.name]
    yield* one(insertCorpus, ...values)
  } else {
    refuseManaged({ noun: 'corpus', name: spec.name, managedBy: found.managedBy }, source)
    if (canonicalJson(found.spec) === canonicalJson(spec))
      return { answer: 'unchanged', corpus: found, before: found.spec }
    if (mode === 'create') return { answer: 'exists', corpus: found, before: found.spec }
    if (found.spec.root !== spec.root) throw otherRoot(found, spec)
    yield* run(updateCorpus, found.id, JSON.stringify(spec), now, source ?? found.managedBy)
    // Prompts, targets and the list of phases are inputs of items too.
    yield* markAll(found.id)
  }
  yield* putTick(context, spec, actor)
  yield* boundPhases(context, spec, { actor, wasBounded: found?.spec.budget != null })
  const verb = found === null ? 'corpus.create' : 'corpus.update'
  yield* writeAudit(context, { actor, verb, subject: `corpus ${spec.name}` }, now)
  const corpus = (yield* findCorpus(context, spec.name)) as Corpus
  return { answer: found === null ? 'created' : 'updated', corpus, before: found?.spec ?? null }
}

function* refuseTakenRoot(context: StoreContext, { root, name }: CorpusSpec): Step<void> {
  if (root === null) return
  const other = (yield* listCorpora(context)).find(({ spec }) => {
    return spec.root !== null && (`${root}/`.startsWith(`${spec.root}/`) || `${spec.root}/`.startsWith(`${root}/`))
  })
  if (other === undefined) return
  throw new BelfryError(
    'conflict',
    `The root ${root} of ${name} overlaps ${other.spec.root}, the root of corpus ${other.name}.`,
    {
      hint: 'Choose a folder that neither contains the other nor lies in it.',
      details: { corpus: other.name, root: other.spec.root },
    },
  )
}

function otherRoot({ name, spec }: Corpus, { root }: CorpusSpec): BelfryError {
  return new BelfryError(
    'conflict',
    `Corpus ${name} has the root ${spec.root ?? '(the store)'}, and would get ${root ?? 'none'}.`,
    {
      hint: 'Delete it and create another: its documents stay where they are.',
      details: { corpus: name, root: spec.root },
    },
  )
}

/** The tick of a corpus is a schedule like any other, with a queue for ticks and phases. */
function* putTick(context: StoreContext, { name, cron, zone, concurrency }: CorpusSpec, actor: Actor): Step<void> {
  const queue = systemName(name)
  yield* setQueue(context, queue, { policy: { maxConcurrent: concurrency }, actor })
  const timing = { cron, zone } as const
  const target = { corpusTick: { corpus: name }, lane: name }
  const said = { description: `Picks the phase of corpus ${name} that is owed most.`, options: { maxAttempts: 1 } }
  const spec = {
    name: queue,
    timing,
    target,
    queue,
    overlap: 'skip',
    priority: tickPriority,
    onExhausted: 'fail',
    ...said,
  } as const
  yield* putSchedule(context, spec, { mode: 'put', actor })
}

/** Only phases count for the budget: ticks are another kind. */
function* boundPhases(
  context: StoreContext,
  { name, zone, budget }: CorpusSpec,
  { actor, wasBounded }: { readonly actor: Actor; readonly wasBounded: boolean },
): Step<void> {
  if (budget === null && !wasBounded) return
  const limits =
    budget === null
      ? null
      : {
          ...(budget.phases !== undefined && { runs: budget.phases }),
          ...(budget.tokens !== undefined && { tokens: budget.tokens }),
        }
  const of = { scope: 'kind', subject: `corpus/${name}` } as const
  yield* boundWork(context, { name: systemName(name), of, per: 'day', zone, limits, actor })
}

/** Ticks go before the phases that they judge. */
const tickPriority = -1

/** Deletes a corpus. Its documents stay on the disk; its items in the store are deleted. */
export function* deleteCorpus(
  context: StoreContext,
  name: string,
  { actor, source }: { readonly actor: Actor; readonly source?: string },
): Step<Corpus | null> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return null
  refuseManaged({ noun: 'corpus', name, managedBy: corpus.managedBy }, source)
  const runs = yield* phaseRuns(corpus.id)
  for (const { runId } of runs) yield* cancelRun(context, runName(runId), 'its corpus was deleted')
  const now = yield* clockNow()
  yield* run(markDeleted, corpus.id, now)
  for (const statement of removeRows) yield* run(statement, corpus.id)
  yield* deleteSchedule(context, systemName(name), { actor })
  if (corpus.spec.budget !== null) {
    yield* boundPhases(context, { ...corpus.spec, budget: null }, { actor, wasBounded: true })
  }
  yield* writeAudit(context, { actor, verb: 'corpus.delete', subject: `corpus ${name}` }, now)
  return corpus
}
