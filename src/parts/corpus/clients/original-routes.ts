import type { Context, Hono } from 'hono'
import { BelfryError } from '../../../core/error.ts'
import { readJson } from '../../../core/json/json-text.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { AddRoutes, PartDoor } from '../../../doors/http/part.ts'
import { bytesOf, decoded } from '../../../doors/http/read-request.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import type { ItemAnswer } from '../verbs/corpus-answer.ts'
import { corpusOperations as verbs } from '../verbs/corpus-verbs.ts'

/** What a route of the original answers: a status, and a body. */
type Told = readonly [status: number, body: unknown]

interface Asked {
  readonly context: OperationContext
  readonly name: string
  /** Of the query or the route, as the original's clients write paths: absolute ones and those of `.meta` too. */
  readonly path: string | undefined
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

type Answer = (asked: Asked) => Promise<Told>

/** The routes that clients of the original call. Each is a verb with another shape, so that every rule of the verbs holds. */
const routes: readonly (readonly ['get' | 'post' | 'patch', string, Answer])[] = [
  ['get', 'status', async ({ context, name }) => [200, await verbs.status.call(context, { name })]],
  ['get', 'metas', listed],
  ['get', 'metas/:path', shown],
  ['patch', 'metas/:path', changed],
  ['get', 'preview', previewed],
  ['get', 'queue', queued],
  ['post', 'queue/clear', async ({ context, name }) => [200, await verbs.clear.call(context, { name })]],
  ['post', 'synthesize', synthesized],
  ['post', 'synthesize/abort', aborted],
  ['post', 'seed', seeded],
]

export const addOriginalRoutes: AddRoutes = (app: Hono, door: PartDoor) => {
  for (const [method, path, answer] of routes) {
    app[method](`/corpora/:name/${path}`, async (c: Context) => {
      const [status, body] = await answer(await askedIn(c, door))
      return Response.json(body, { status, headers: { 'cache-control': 'no-store' } })
    })
  }
}

async function askedIn(c: Context, { context: opened, gate }: PartDoor): Promise<Asked> {
  const { scope, ...caller } = await gate.callerOf(c.req.raw)
  const context = { ...opened, actor: { ...caller, door: 'http' }, scope }
  const name = c.req.param('name') ?? ''
  const body = c.req.method === 'GET' ? {} : bodyOf(decoded(await bytesOf(c.req.raw)))
  const query = c.req.query()
  const given = c.req.param('path') ?? query.path ?? body.path
  const { root } = await verbs.get.call(context, { name })
  return { context, name, query, body, path: typeof given === 'string' ? itemPathOf(given, root) : undefined }
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  const read = text.trim() === '' ? { value: {} } : readJson(text)
  if ('value' in read && isRecord(read.value)) return read.value
  throw new BelfryError('invalid', 'The body is no JSON object.', { hint: 'Send an object, such as {"path":"guide"}.' })
}

function itemPathOf(given: string, root: string | null): string {
  const path = root !== null && given.startsWith(`${root}/`) ? given.slice(root.length + 1) : given
  if (path === root || path === '.meta') return '.'
  return path.replace(/\/\.meta(\/meta\.json)?$/, '')
}

function metaOf({ path, depth, emphasis, generatedAt, status, phaseState, phase, attempts }: ItemAnswer) {
  return {
    path,
    depth,
    emphasis,
    lastSynthesized: generatedAt === null ? null : new Date(generatedAt).toISOString(),
    hasError: attempts > 0 || status === 'unreadable',
    locked: status === 'running',
    disabled: status === 'disabled',
    phaseState,
    owedPhase: phase,
  }
}

const pageMax = 1_000

async function listed({ context, name, query }: Asked): Promise<Told> {
  const { items = [] } = await verbs.list.call(context, { corpus: name, limit: pageMax })
  const { pathPrefix = '', hasError, neverSynthesized, disabled, locked } = query
  const isAsked = (flag: string | undefined, value: boolean) => flag === undefined || (flag === 'true') === value
  const metas = items.map(metaOf).filter((meta) => {
    const isNever = meta.lastSynthesized === null
    const isRight = isAsked(hasError, meta.hasError) && isAsked(neverSynthesized, isNever)
    return isRight && isAsked(disabled, meta.disabled) && isAsked(locked, meta.locked) && meta.path.includes(pathPrefix)
  })
  return [200, { summary: { total: metas.length }, metas }]
}

const longFields: readonly string[] = ['_architect', '_builder', '_critic', '_content', '_feedback']

function projected(document: Readonly<Record<string, unknown>>, fields: string | undefined) {
  const asked = fields?.split(',')
  const isShown = (name: string) => asked?.includes(name) ?? !longFields.includes(name)
  return Object.fromEntries(Object.entries(document).filter(([name]) => isShown(name)))
}

async function shown({ context, name, path, query }: Asked): Promise<Told> {
  const { item, document } = await verbs.item.call(context, { name, path })
  const { phaseState, owedPhase } = metaOf(item)
  return [200, { path, meta: projected(document, query.fields), phaseState, owedPhase }]
}

/** The body has the names of the document; null removes a field. */
async function changed({ context, name, path, body }: Asked): Promise<Told> {
  const named = Object.entries(body).map(([field, value]) => [
    field.startsWith('_') ? field.slice(1) : `_${field}`,
    value,
  ])
  const { document } = await verbs.update.call(context, { name, path, ...Object.fromEntries(named) })
  return [200, { path, meta: projected(document, undefined) }]
}

async function previewed({ context, name, path }: Asked): Promise<Told> {
  const first = path ?? (await verbs.queue.call(context, { name, limit: 1 })).automatic[0]?.path
  if (first === undefined) return [200, { message: 'Nothing is owed.' }]
  const { item, staleness } = await verbs.explain.call(context, { name, path: first })
  const { phase, document } = await verbs.preview.call(context, { name, path: first })
  const { scope, delta } = document as { scope: { count: number }; delta: { files: readonly string[]; count: number } }
  const deltaFiles = delta.files.slice(0, 50).map((file) => ({ path: file, action: 'modified' }))
  return [
    200,
    {
      path: first,
      staleness: { seconds: staleness.seconds, score: staleness.effective },
      architectWillRun: item.phase !== null && phase === 'architect',
      scope: { ownedFiles: scope.count, deltaFiles, deltaCount: delta.count },
      owedPhase: item.phase,
      priorityBand: item.band,
      phaseState: item.phaseState,
    },
  ]
}

async function queued({ context, name }: Asked): Promise<Told> {
  const queue = await verbs.queue.call(context, { name })
  const iso = (at: number) => new Date(at).toISOString()
  const [now] = queue.current
  const overrides = queue.overrides.map(({ path, phase, enqueuedAt }) => {
    return { path, owedPhase: phase, enqueuedAt: iso(enqueuedAt) }
  })
  const automatic = queue.automatic.map(({ path, phase, band, staleness }) => {
    return { path, owedPhase: phase, priorityBand: band, effectiveStaleness: staleness }
  })
  const current = now === undefined ? null : { path: now.path, phase: now.phase, startedAt: iso(now.startedAt) }
  const pending = [...overrides, ...automatic].map(({ path, owedPhase }) => ({ path, owedPhase }))
  return [200, { current, overrides, automatic, pending, state: { depth: overrides.length, items: overrides } }]
}

async function synthesized({ context, name, path }: Asked): Promise<Told> {
  const given = { name, ...(path !== undefined && { path }) }
  const { status, created, position, phase, path: taken } = await verbs.trigger.call(context, given)
  const alreadyQueued = status === 'queued' && !created
  const queuePosition = status === 'queued' ? position : -1
  const said = status === 'queued' && path === undefined ? 'accepted' : status
  return [
    status === 'queued' ? 202 : 200,
    { status: said, path: taken, owedPhase: phase, queuePosition, alreadyQueued },
  ]
}

async function aborted({ context, name }: Asked): Promise<Told> {
  const { status, items } = await verbs.abort.call(context, { name })
  const [first] = items
  return [200, { status, ...(first !== undefined && { path: first.path, phase: first.phase }) }]
}

async function seeded({ context, name, path, body }: Asked): Promise<Told> {
  const { path: _, ...given } = body
  await verbs.seed.call(context, { name, path, ...given })
  const { document } = await verbs.item.call(context, { name, path })
  return [201, { status: 'created', path, metaDir: `${path}/.meta`, _id: document._id }]
}
