import { type PhaseForm, phaseForms } from '../../core/corpus/derive-phases.ts'
import type { Expectation } from '../../core/run/expect.ts'
import type { Target } from '../../core/target.ts'
import { canBeName } from '../../store/check.ts'
import { all, both, dialects, one, type Row, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { WatcherSpec } from './watcher/watcher.ts'

export interface SeedRule {
  readonly match: string
  readonly steer?: string | undefined
  readonly crossRefs?: readonly string[] | undefined
}

export interface CorpusBudget {
  readonly phases?: number | undefined
  readonly tokens?: number | undefined
}

/** A corpus as it is stored, with all defaults filled in. */
export interface CorpusSpec {
  readonly name: string
  /** The folder of the items; null: the items live in the store. */
  readonly root: string | null
  /** The target of every phase that has no target of its own. */
  readonly target: Target
  readonly targets: Readonly<Record<string, Target>>
  /** What `target` must answer, besides what each phase checks. */
  readonly expect?: Expectation
  /** The same for the targets of single phases. */
  readonly expects?: Readonly<Record<string, Expectation>>
  /** The files with the prompts of the phases. */
  readonly prompts: Readonly<Record<string, string>>
  readonly cron: string
  readonly zone: string
  readonly depthWeight: number
  readonly architectEvery: number
  readonly maxArchive: number
  readonly attempts: number
  readonly propagateAfterMs: number
  readonly autoSeed: readonly SeedRule[]
  readonly ignore: readonly string[]
  /** The service that lists the files below the root instead of Belfry. Default: Belfry walks and watches the files. */
  readonly watcher?: WatcherSpec
  readonly drain: boolean
  readonly concurrency: number
  /** Null: no budget. A corpus that drains must say this explicitly. */
  readonly budget: CorpusBudget | null
  /** Null: the phases architect, builder and critic. */
  readonly phases: readonly PhaseForm[] | null
}

export interface Corpus {
  readonly id: number
  readonly ns: number
  readonly name: string
  readonly spec: CorpusSpec
  /** The id in the mark file of the root, so that Belfry takes no other folder for it. */
  readonly rootId: string
  readonly version: number
  readonly managedBy: string | null
  readonly ticks: number
  /** One tick in this many looks at the corpus; more than 1 after ticks in which nothing was owed. */
  readonly idle: number
  readonly picks: number
  readonly scannedAt: number | null
  /** A fingerprint of what all its items consume alike; null before the first look. */
  readonly inputsHash: string | null
  /** How long a phase takes: an average over the last ones. Null before the first. */
  readonly phaseMs: number | null
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
}

const columns =
  'id, ns, name, spec, root_id, version, managed_by, ticks, idle, picks, scanned_at, inputs_hash, phase_ms, created_at, created_by, updated_at'
const live = `select ${columns} from belfry.corpus where ns = $1 and deleted_at is null`
const findNamed = both('corpus find', `${live} and name = $2`)
const lockNamed = dialects('corpus lock named', {
  sqlite: `${live} and name = $2`,
  postgres: `${live} and name = $2 for no key update`,
})
const lockById = dialects('corpus lock', {
  sqlite: `select ${columns} from belfry.corpus where id = $1 and deleted_at is null`,
  postgres: `select ${columns} from belfry.corpus where id = $1 and deleted_at is null for no key update`,
})
const listAll = both('corpus list', `${live} order by name`)
const findById = both('corpus find by id', `select ${columns} from belfry.corpus where id = $1`)
const saveCounts = both(
  'corpus save counts',
  'update belfry.corpus set ticks = $2, idle = $3, picks = $4, scanned_at = $5, phase_ms = $6 where id = $1',
)

export function corpusOf(row: Row): Corpus {
  return {
    id: row.id as number,
    ns: row.ns as number,
    name: row.name as string,
    spec: JSON.parse(row.spec as string) as CorpusSpec,
    rootId: row.root_id as string,
    version: row.version as number,
    managedBy: row.managed_by as string | null,
    ticks: row.ticks as number,
    idle: row.idle as number,
    picks: row.picks as number,
    scannedAt: row.scanned_at as number | null,
    inputsHash: row.inputs_hash as string | null,
    phaseMs: row.phase_ms as number | null,
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
    updatedAt: row.updated_at as number,
  }
}

export function* findCorpus({ ns }: StoreContext, name: string): Step<Corpus | null> {
  const row = canBeName(name) ? yield* one(findNamed, ns, name) : undefined
  return row === undefined ? null : corpusOf(row)
}

/** Locks a corpus. Every step that writes items locks the corpus first, so that the counts are right and no two steps deadlock. */
export function* lockCorpus({ ns }: StoreContext, name: string): Step<Corpus | null> {
  const row = canBeName(name) ? yield* one(lockNamed, ns, name) : undefined
  return row === undefined ? null : corpusOf(row)
}

export function* lockCorpusById(id: number): Step<Corpus | null> {
  const row = yield* one(lockById, id)
  return row === undefined ? null : corpusOf(row)
}

export function* findCorpusById(_: StoreContext, id: number): Step<Corpus | null> {
  const row = yield* one(findById, id)
  return row === undefined ? null : corpusOf(row)
}

export function* listCorpora({ ns }: StoreContext): Step<Corpus[]> {
  return (yield* all(listAll, ns)).map(corpusOf)
}

export function* saveCorpusCounts({ id, ticks, idle, picks, scannedAt, phaseMs }: Corpus): Step<void> {
  yield* run(saveCounts, id, ticks, idle, picks, scannedAt, phaseMs)
}

export function formsOf({ spec }: Pick<Corpus, 'spec'>): readonly PhaseForm[] {
  return spec.phases ?? phaseForms
}

export function phaseNames(corpus: Pick<Corpus, 'spec'>): readonly string[] {
  return formsOf(corpus).map(({ name }) => name)
}

/** The queue of a corpus's ticks and phases, and the name of its tick. */
export function systemName(name: string): string {
  return `corpus:${name}`
}

export function targetOfPhase({ spec }: Pick<Corpus, 'spec'>, phase: string): Target {
  return spec.targets[phase] ?? spec.target
}

/** What the target of a phase must answer; a target of its own has an expectation of its own. */
export function expectOfPhase({ spec }: Pick<Corpus, 'spec'>, phase: string): Expectation | undefined {
  return spec.targets[phase] === undefined ? spec.expect : spec.expects?.[phase]
}
