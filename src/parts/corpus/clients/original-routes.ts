import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { readJson } from '../../../core/json/json-text.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { AddRoutes, PartDoor } from '../../../doors/http/part.ts'
import { bytesOf, decoded } from '../../../doors/http/read-request.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { findCorpus } from '../corpus-row.ts'
import { copyNames, readCopy } from '../items/snapshots.ts'
import { itemPathIn } from '../tree/document-file.ts'
import type { ItemAnswer } from '../verbs/corpus-answer.ts'
import { corpusOperations as verbs } from '../verbs/corpus-verbs.ts'
import { besideDocument, metaOf, previewBody, statusBody, summaryOf } from './original-answers.ts'
import { bodies, bodyIn, queries, queryIn } from './original-input.ts'

/** The answer of a route of the original program: a status, and a body. */
type Told = readonly [status: number, body: unknown]
type Given = Readonly<Record<string, unknown>>

interface Asked<Query = Given, Body = Given> {
  readonly context: OperationContext
  readonly name: string
  /** The path from the query or the route, as the original's clients write it: absolute paths and paths in `.meta` too. */
  readonly path: string | undefined
  readonly query: Query
  readonly body: Body
  /** The body as it was written. */
  readonly written: Given
}

interface Route {
  readonly method: 'get' | 'post' | 'patch'
  readonly path: string
  readonly query: z.ZodObject
  readonly body: z.ZodObject
  readonly answer: (asked: Asked<never, never>) => Promise<Told>
}

function route<Query extends z.ZodObject, Body extends z.ZodObject>(
  [method, path]: readonly [Route['method'], string],
  [query, body]: readonly [Query, Body],
  answer: (asked: Asked<z.output<Query>, z.output<Body>>) => Promise<Told>,
): Route {
  return { method, path, query, body, answer }
}

const nothing = [queries.none, bodies.none] as const

/** The routes that the original's clients call. Each route calls a verb and reshapes its answer, so that every rule of the verb holds. */
const routes: readonly Route[] = [
  route(['get', 'status'], nothing, stated),
  route(['get', 'metas'], [queries.list, bodies.none], listed),
  route(['get', 'metas/:path'], [queries.item, bodies.none], shown),
  route(['patch', 'metas/:path'], [queries.none, bodies.item], changed),
  route(['get', 'preview'], [queries.path, bodies.none], previewed),
  route(['get', 'queue'], nothing, queued),
  route(['post', 'queue/clear'], nothing, async ({ context, name }) => [
    200,
    await verbs.clear.call(context, { name }),
  ]),
  route(['post', 'synthesize'], [queries.none, bodies.path], synthesized),
  route(['post', 'synthesize/abort'], nothing, aborted),
  route(['post', 'seed'], [queries.none, bodies.seed], seeded),
]

export const addOriginalRoutes: AddRoutes = (app: Hono, door: PartDoor) => {
  for (const route of routes) {
    app[route.method](`/corpora/:name/${route.path}`, async (c: Context) => {
      const [status, body] = await route.answer((await askedIn(c, door, route)) as never)
      return Response.json(body, { status, headers: { 'cache-control': 'no-store' } })
    })
  }
}

async function askedIn(c: Context, { context: opened, gate }: PartDoor, route: Route): Promise<Asked> {
  const { scope, ...caller } = await gate.callerOf(c.req.raw)
  const context = { ...opened, actor: { ...caller, door: 'http' }, scope }
  const name = c.req.param('name') ?? ''
  const written = c.req.method === 'GET' ? {} : bodyOf(decoded(await bytesOf(c.req.raw)))
  const { root } = await verbs.get.call(context, { name })
  const query: Given = queryIn(route.query, c.req.url)
  const body: Given = bodyIn(route.body, written, root)
  const given = c.req.param('path') ?? query.path ?? body.path
  const path = typeof given === 'string' ? itemPathOf(given, root) : undefined
  return { context, name, query, body, written, path }
}

function bodyOf(text: string): Given {
  const read = text.trim() === '' ? { value: {} } : readJson(text)
  if ('value' in read && isRecord(read.value)) return read.value
  throw new BelfryError('invalid', 'The body is no JSON object.', { hint: 'Send an object, such as {"path":"guide"}.' })
}

/** A path that names no item is passed on as it is, and refused by the verb. */
function itemPathOf(given: string, root: string | null): string {
  return itemPathIn(root, given) ?? given
}

async function stated({ context, name }: Asked): Promise<Told> {
  const { cron } = await verbs.get.call(context, { name })
  const queue = await verbs.queue.call(context, { name })
  return [200, await statusBody(context, await verbs.status.call(context, { name }), { cron, queue })]
}

const pageMax = 1_000

async function listed({ context, name, query }: Asked<z.output<typeof queries.list>>): Promise<Told> {
  const { pathPrefix = '', hasError, neverSynthesized, disabled, locked, staleHours, fields } = query
  const isAsked = (flag: boolean | undefined, value: boolean) => flag === undefined || flag === value
  const now = context.clock.now()
  const metas = (await everyItem(context, name))
    .map((item) => metaOf(item, now))
    .filter((meta) => {
      const { stalenessSeconds: stale } = meta
      const isRight = isAsked(hasError, meta.hasError) && isAsked(neverSynthesized, stale === null)
      const isStale = staleHours === undefined || stale === null || stale >= staleHours * 3_600
      const isHere = isAsked(disabled, meta.disabled) && isAsked(locked, meta.locked) && meta.path.includes(pathPrefix)
      return isRight && isStale && isHere
    })
  const shown = metas.map((meta) => {
    return fields === undefined ? meta : Object.fromEntries(fields.map((field) => [field, meta[field]]))
  })
  return [200, { summary: summaryOf(metas), metas: shown }]
}

async function everyItem(context: OperationContext, name: string): Promise<ItemAnswer[]> {
  const found: ItemAnswer[] = []
  for (;;) {
    const last = found.at(-1)
    const page = { corpus: name, limit: pageMax, ...(last !== undefined && { after: last.path }) }
    const { items = [] } = await verbs.list.call(context, page)
    found.push(...items)
    if (items.length < pageMax) return found
    // SQLite answers a read at once, so that this loop alone would hold the event loop for all pages.
    await nextTurn()
  }
}

const longFields: readonly string[] = ['_architect', '_builder', '_critic', '_content', '_feedback']

function projected(document: Given, asked?: readonly string[]) {
  const isShown = (name: string) => asked?.includes(name) ?? !longFields.includes(name)
  return Object.fromEntries(Object.entries(document).filter(([name]) => isShown(name)))
}

async function shown({ context, name, path, query }: Asked<z.output<typeof queries.item>>): Promise<Told> {
  const whole = await verbs.item.call(context, { name, path })
  const { item, document } = whole
  const beside = await besideDocument(context, name, whole, await verbs.explain.call(context, { name, path }))
  const { fields, includeArchive = 0 } = query
  const { phaseState, owedPhase } = metaOf(item, context.clock.now())
  const copies = includeArchive === 0 ? [] : await context.store.look(copiesOf, name, item.path, includeArchive)
  const archive = includeArchive === 0 ? {} : { archive: copies.map((copy) => projected(copy, fields)) }
  return [200, { path, meta: projected(document, fields), ...beside, phaseState, owedPhase, ...archive }]
}

/** The newest snapshots of an item that can be read. */
function* copiesOf(context: StoreContext, name: string, path: string, most: number): Step<Given[]> {
  const corpus = yield* findCorpus(context, name)
  if (corpus === null) return []
  const found: Given[] = []
  for (const snapshot of yield* copyNames(corpus, path)) {
    if (found.length >= most) break
    const copy = yield* readCopy(corpus, path, snapshot)
    if (copy !== null) found.push(copy)
  }
  return found
}

/** The body uses the field names of the document; null removes a field. References are answered as they were written. */
async function changed({
  context,
  name,
  path,
  body,
  written,
}: Asked<Given, z.output<typeof bodies.item>>): Promise<Told> {
  const fields = Object.entries(body).map(([field, value]) => [field.slice(1), value])
  const { document } = await verbs.update.call(context, { name, path, ...Object.fromEntries(fields) })
  const refs = Array.isArray(written._crossRefs) ? { _crossRefs: written._crossRefs } : {}
  return [200, { path, meta: { ...projected(document), ...refs } }]
}

async function previewed({ context, name, path }: Asked): Promise<Told> {
  const first = path ?? (await verbs.queue.call(context, { name, limit: 1 })).automatic[0]?.path
  if (first === undefined) return [200, { message: 'Nothing is owed.' }]
  const explained = await verbs.explain.call(context, { name, path: first })
  return [200, { path: first, ...previewBody(explained, await verbs.preview.call(context, { name, path: first })) }]
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

async function seeded({ context, name, path, body }: Asked<Given, z.output<typeof bodies.seed>>): Promise<Told> {
  await verbs.seed.call(context, { ...body, name, path, create: true })
  const { document } = await verbs.item.call(context, { name, path })
  return [201, { status: 'created', path, metaDir: `${path}/.meta`, _id: document._id }]
}
