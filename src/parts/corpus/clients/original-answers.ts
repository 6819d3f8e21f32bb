import type { OperationContext } from '../../../operations/operation-context.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { findCorpus, phaseNames } from '../corpus-row.ts'
import { childPaths, readItem } from '../items/list-items.ts'
import { type Group, groupsOf } from '../items/pick-item.ts'
import type { ItemAnswer } from '../verbs/corpus-answer.ts'
import type { StatusAnswer } from '../verbs/corpus-status.ts'
import type { ExplainedAnswer, PreviewAnswer } from '../verbs/explain-verbs.ts'
import type { WholeItem } from '../verbs/item-verbs.ts'
import type { QueueAnswer } from '../verbs/queue-verbs.ts'

/** An entry in a list of documents, with the field names of the original program. */
export function metaOf({ path, depth, emphasis, generatedAt, status, phaseState, ...item }: ItemAnswer, now: number) {
  return {
    path,
    depth,
    emphasis,
    stalenessSeconds: generatedAt === null ? null : Math.max(0, Math.floor((now - generatedAt) / 1_000)),
    lastSynthesized: isoOrNull(generatedAt),
    hasError: item.attempts > 0 || status === 'unreadable',
    locked: status === 'running',
    disabled: status === 'disabled',
    // Unknown is not 0.
    architectTokens: item.tokens.architect ?? null,
    builderTokens: item.tokens.builder ?? null,
    criticTokens: item.tokens.critic ?? null,
    phaseState,
    owedPhase: item.phase,
  }
}
type Meta = ReturnType<typeof metaOf>

/** The sums over a list, which may be filtered. */
export function summaryOf(metas: readonly Meta[]) {
  const many = (has: (meta: Meta) => boolean) => metas.filter(has).length
  const tokens = (of: 'architectTokens' | 'builderTokens' | 'criticTokens') =>
    metas.reduce((sum, meta) => sum + (meta[of] ?? 0), 0)
  const byAge = metas.toSorted((a, b) => ageOf(b) - ageOf(a))
  const last = byAge.findLast(({ lastSynthesized }) => lastSynthesized !== null)
  return {
    total: metas.length,
    stale: many(({ owedPhase: owed }) => owed !== null),
    errors: many(({ hasError }) => hasError),
    locked: many(({ locked }) => locked),
    disabled: many(({ disabled }) => disabled),
    neverSynthesized: many(({ lastSynthesized }) => lastSynthesized === null),
    tokens: {
      architect: tokens('architectTokens'),
      builder: tokens('builderTokens'),
      critic: tokens('criticTokens'),
    },
    stalestPath: byAge[0]?.path ?? null,
    lastSynthesizedPath: last?.path ?? null,
    lastSynthesizedAt: last?.lastSynthesized ?? null,
  }
}

function ageOf({ stalenessSeconds }: Meta): number {
  return stalenessSeconds ?? Number.POSITIVE_INFINITY
}

/** The state of a corpus as the original reports that of its service; the fields of `corpus status` stand beside it. */
export async function statusBody(
  { store }: Pick<OperationContext, 'store'>,
  status: StatusAnswer,
  { cron, queue }: { readonly cron: string; readonly queue: QueueAnswer },
) {
  const { name, problem, current, next, watchers, nextTickAt } = status
  const [now, first] = [current[0], next[0]]
  const isWaiting = queue.overrides.length > 0 || first !== undefined
  const health = {
    serviceState: now !== undefined ? 'synthesizing' : isWaiting ? 'waiting' : 'idle',
    currentTarget: now?.path ?? null,
    queue: { depth: queue.overrides.length, items: queue.overrides.map(({ path }) => ({ path, priority: true })) },
    schedule: { expression: cron, nextAt: isoOrNull(nextTickAt) },
    dependencies: Object.fromEntries(
      watchers.map(({ url, error, at, registeredAt }) => [
        'watcher',
        {
          url,
          status: error === null ? 'ok' : 'error',
          checkedAt: isoOrNull(at),
          rulesRegistered: registeredAt !== null,
        },
      ]),
    ),
    phaseStateSummary: await store.look(phaseStates, name),
    nextPhase: first === undefined ? null : first,
  }
  const isFailing = watchers.some(({ error }) => error !== null) || status.held !== null
  return {
    ...status,
    uptime: Math.floor(process.uptime()),
    status: problem !== null ? 'unhealthy' : isFailing ? 'degraded' : 'healthy',
    health,
  }
}

const everyState = { fresh: 0, stale: 0, pending: 0, running: 0, failed: 0 }

/** How many items have each phase in each state: the phases before the owed one are fresh, and those after it stale. */
function* phaseStates(context: StoreContext, name: string): Step<Record<string, typeof everyState>> {
  const corpus = yield* findCorpus(context, name)
  if (corpus === null) return {}
  const names = phaseNames(corpus)
  const counts = Object.fromEntries(names.map((phase) => [phase, { ...everyState }]))
  for (const group of yield* groupsOf(corpus.id)) {
    const owedAt = group.phase === '' ? names.length : names.indexOf(group.phase)
    for (const [at, phase] of names.entries()) {
      const state = at < owedAt ? 'fresh' : at > owedAt ? 'stale' : stateOf(group)
      const own = counts[phase] as typeof everyState
      own[state] += group.items
    }
  }
  return counts
}

function stateOf({ status }: Group): keyof typeof everyState {
  if (status === 'running') return 'running'
  return status === 'failed' || status === 'parked' ? 'failed' : 'pending'
}

/** What the original shows of a document besides its fields. */
export async function besideDocument(
  { store }: Pick<OperationContext, 'store'>,
  name: string,
  { item, document, missingRefs }: WholeItem,
  { staleness }: ExplainedAnswer,
) {
  const { files, children } = await store.look(filesOf, name, item.path)
  const refs = Array.isArray(document._crossRefs) ? document._crossRefs.map(String) : []
  const crossRefs = refs.map((path) => ({ path, status: missingRefs.includes(path) ? 'missing' : 'resolved' }))
  return {
    scope: { ownedFiles: files, childMetas: children, totalFiles: files },
    staleness: { seconds: staleness.seconds, score: staleness.effective },
    ...(refs.length > 0 && { crossRefs }),
  }
}

function* filesOf(context: StoreContext, name: string, path: string): Step<{ files: number; children: number }> {
  const corpus = yield* findCorpus(context, name)
  const item = corpus === null ? null : yield* readItem(context, corpus.id, path)
  if (item === null) return { files: 0, children: 0 }
  const { files, sources } = item.facts
  const children = yield* childPaths(context, item.corpusId, path)
  return { files: Object.keys(files ?? sources ?? {}).length, children: children.length }
}

/** The names that the original has for what owes the architect. */
const invalidators: Readonly<Record<string, string>> = {
  files: 'structureHash',
  steer: 'steer',
  prompt: '_architect',
  refs: '_crossRefs',
  architectEvery: 'architectEvery',
}

/** The preview of an item: what would run, and why. */
export function previewBody({ item, staleness, changed }: ExplainedAnswer, { document, phase }: PreviewAnswer) {
  const { scope, delta, children } = document as {
    scope: { count: number }
    delta: { files: readonly string[]; count: number }
    children: object
  }
  const inputs = changed.flatMap(({ phase: of, input }) => (of === 'architect' ? [String(input)] : []))
  const names = [...new Set(inputs.flatMap((input) => invalidators[input] ?? []))]
  const isArchitect = item.phase !== null && phase === 'architect'
  const { architect = null, builder = null, critic = null } = item.tokens
  return {
    staleness: { seconds: staleness.seconds, score: staleness.effective },
    architectWillRun: isArchitect,
    architectReason: !isArchitect ? null : names.length > 0 ? `changed: ${names.join(', ')}` : 'not done yet',
    scope: {
      ownedFiles: scope.count,
      childMetas: Object.keys(children).length,
      deltaFiles: delta.files.slice(0, 50).map((file) => ({ path: file, action: 'modified' })),
      deltaCount: delta.count,
    },
    estimatedTokens: { architect, builder, critic },
    owedPhase: item.phase,
    priorityBand: item.band,
    phaseState: item.phaseState,
    stalenessInputs: {
      structureChanged: inputs.includes('files'),
      steerChanged: inputs.includes('steer'),
      architectChanged: inputs.includes('prompt'),
      crossRefsDeclChanged: inputs.includes('refs'),
      scopeMtimeMax: null,
      crossRefContentChanged: changed.some(({ input }) => input === 'references'),
    },
    architectInvalidators: names,
  }
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
