import { type PhaseForm, phaseForms } from '../../core/corpus/derive-phases.ts'
import type { Target } from '../../core/target.ts'
import { canBeName } from '../../store/check.ts'
import { all, both, dialects, one, type Row, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

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
  /** The folder of its items; null: they live in the store. */
  readonly root: string | null
  /** The target of every phase that has none of its own. */
  readonly target: Target
  readonly targets: Readonly<Record<string, Target>>
  /** Files with the prompts of phases. */
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
  readonly drain: boolean
  readonly concurrency: number
  /** Null: none, which is said on purpose where it drains. */
  readonly budget: CorpusBudget | null
  /** Null: architect, builder, critic. */
  readonly phases: readonly PhaseForm[] | null
}

export interface Corpus {
  readonly id: number
  readonly ns: number
  readonly name: string
  readonly spec: CorpusSpec
  /** Written to the root, so that no other folder is taken for it. */
  readonly rootId: string
  readonly version: number
  readonly managedBy: string | null
  readonly ticks: number
  /** Nothing was owed: only every so many ticks look again. */
  readonly idle: number
  readonly picks: number
  readonly scannedAt: number | null
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
}

const columns =
  'id, ns, name, spec, root_id, version, managed_by, ticks, idle, picks, scanned_at, created_at, created_by, updated_at'
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
const saveCounts = both(
  'corpus save counts',
  'update belfry.corpus set ticks = $2, idle = $3, picks = $4, scanned_at = $5 where id = $1',
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
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
    updatedAt: row.updated_at as number,
  }
}

export function* findCorpus({ ns }: StoreContext, name: string): Step<Corpus | null> {
  const row = canBeName(name) ? yield* one(findNamed, ns, name) : undefined
  return row === undefined ? null : corpusOf(row)
}

/** Locks a corpus. Every step that writes its items does so first, so that its counts are right and no two steps wait for each other. */
export function* lockCorpus({ ns }: StoreContext, name: string): Step<Corpus | null> {
  const row = canBeName(name) ? yield* one(lockNamed, ns, name) : undefined
  return row === undefined ? null : corpusOf(row)
}

export function* lockCorpusById(id: number): Step<Corpus | null> {
  const row = yield* one(lockById, id)
  return row === undefined ? null : corpusOf(row)
}

export function* listCorpora({ ns }: StoreContext): Step<Corpus[]> {
  return (yield* all(listAll, ns)).map(corpusOf)
}

export function* saveCorpusCounts({ id, ticks, idle, picks, scannedAt }: Corpus): Step<void> {
  yield* run(saveCounts, id, ticks, idle, picks, scannedAt)
}

export function formsOf({ spec }: Pick<Corpus, 'spec'>): readonly PhaseForm[] {
  return spec.phases ?? phaseForms
}

export function phaseNames(corpus: Pick<Corpus, 'spec'>): readonly string[] {
  return formsOf(corpus).map(({ name }) => name)
}

/** The queue of its ticks and phases, and the name of its tick. */
export function systemName(name: string): string {
  return `corpus:${name}`
}

export function targetOfPhase({ spec }: Pick<Corpus, 'spec'>, phase: string): Target {
  return spec.targets[phase] ?? spec.target
}
