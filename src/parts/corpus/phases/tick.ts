import { BelfryError } from '../../../core/error.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { Attempt, Ended, Execute } from '../../../targets/attempt.ts'
import type { ExecutorHost, KindExecutor } from '../../../targets/kind.ts'
import { type Corpus, findCorpus, listCorpora, lockCorpus, saveCorpusCounts } from '../corpus-row.ts'
import { lineOf } from '../items/pick-item.ts'
import { autoSeed } from '../tree/auto-seed.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { retryDue, scanTree } from '../tree/scan-tree.ts'
import { isServed } from './phase-executor.ts'
import { orderNext } from './phase-run.ts'

/** Nothing was owed so often: only every so many ticks look again. */
const idleMax = 4

/** Executes ticks, for the same corpora as phases. */
export async function tickExecutor(host: ExecutorHost): Promise<KindExecutor> {
  const named = new Map<string, Execute>()
  const execute: Execute = (attempt) => ticked(attempt, host)
  const refresh = async () => {
    const served = (await host.store.look(listCorpora)).filter((corpus) => isServed(corpus, host))
    for (const name of named.keys()) if (!served.some((corpus) => corpus.name === name)) named.delete(name)
    for (const { name } of served) named.set(name, execute)
  }
  await refresh()
  return { named, refresh }
}

export interface Stage {
  readonly stage: string
  readonly ms: number
  readonly [count: string]: unknown
}

async function ticked(attempt: Attempt, { store }: ExecutorHost): Promise<Ended> {
  const name = String(attempt.target.lane)
  const corpus = await store.look(findCorpus, name)
  if (corpus === null) return { facts: { error: `corpus ${name} is gone`, retryable: false } }
  const result = await tickOnce(store, corpus, attempt.clock)
  return { facts: { json: result }, result }
}

export interface Ticked {
  readonly stages: readonly Stage[]
  readonly picked: { readonly path: string; readonly phase: string; readonly run: string } | null
  /** The first that were not picked. */
  readonly next: readonly { readonly path: string; readonly phase: string }[]
}

/** One tick: seed, discover, invalidate, retry, select, enqueue. An error of the disk is a failed tick, never "nothing owed". */
export async function tickOnce(
  store: ExecutorHost['store'],
  corpus: Corpus,
  clock: Pick<Attempt['clock'], 'monotonic'>,
): Promise<Ticked> {
  const stages: Stage[] = []
  const timed = async <Result extends object>(stage: string, work: () => Promise<Result>): Promise<Result> => {
    const since = clock.monotonic()
    const result = await work()
    stages.push({ stage, ms: Math.round(clock.monotonic() - since), ...result })
    return result
  }
  refuseUnseen(corpus)
  await timed('seed', () => autoSeed(store, corpus))
  await timed('discover and invalidate', () => scanTree(store, corpus))
  await timed('retry', () => store.do(retryDue, corpus.name))
  const { picked, next } = await timed('select and enqueue', () => store.do(pickAndOrder, corpus.name))
  return { stages, picked, next }
}

function refuseUnseen(corpus: Corpus): void {
  const problem = rootProblem(corpus)
  if (problem === null) return
  throw new BelfryError('unavailable', `The root ${corpus.spec.root} of corpus ${corpus.name} ${problem}.`)
}

function* pickAndOrder(context: StoreContext, name: string): Step<Pick<Ticked, 'picked' | 'next'>> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { picked: null, next: [] }
  const { ranked } = yield* lineOf(corpus, 4)
  const picked = yield* orderNext(context, corpus)
  if (ranked.length === 0) yield* saveCorpusCounts({ ...corpus, idle: Math.min(idleMax, corpus.idle * 2) })
  const next = ranked.filter(({ path }) => path !== picked?.path).map(({ path, phase }) => ({ path, phase }))
  return { picked, next: next.slice(0, 3) }
}
