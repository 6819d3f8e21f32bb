/** Connects the doors with the store and the library: what a door opens, without knowing how it is made. */
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { systemClock } from './core/clock.ts'
import type { Surroundings } from './doors/cli/session/store-location.ts'
import { storeSession } from './doors/cli/session/store-session.ts'
import type {
  ModelRequest,
  ServerOpening,
  Session,
  StoreOpening,
  StoreSession,
  WorkerOpening,
  WorkerSession,
} from './doors/cli/world.ts'
import { Events } from './engine/events.ts'
import { leftOutNouns } from './features.ts'
import { contextOf } from './library/library-context.ts'
import { openingOf } from './library/options.ts'
import { openLate, openStore } from './open-store.ts'
import { onlyGiven } from './operations/fields/only-given.ts'
import { Waits } from './operations/run/waits.ts'
import { hasLiveWorker } from './operations/worker/noun.ts'
import { giveMark } from './store/sqlite/mark.ts'
import { fileOf, needsTrust, refuseUnmarkedStore } from './store-guard.ts'

/** A second PostgreSQL connection takes longer to open than a command takes to read. */
const connectionsOfCommand = 1

export async function openSession(
  { store, schema, namespace, mustExist = false, isMadeLate = false, isTrusted = false, isFound = false }: StoreOpening,
  { env, folder }: Surroundings,
): Promise<StoreSession> {
  const file = fileOf(store)
  const secretsFolder = file === null ? undefined : join(dirname(file), 'secrets')
  const opening = openingOf({ store, ...onlyGiven({ schema, namespace, secretsFolder }) }, env)
  const { defaultMaxConcurrent } = opening
  const options = { ...onlyGiven({ schema, namespace }), defaultMaxConcurrent, connectionsMax: connectionsOfCommand }
  const opened = isMadeLate ? openLate(store, options) : await openStore(store, { ...options, mustExist })
  if (isTrusted && file !== null) giveMark(file)
  const waits = new Waits({ store: opened, clock: systemClock, events: new Events() })
  const context = contextOf({ store: opened, opening, clock: systemClock, waits, door: 'cli', folder })
  const close = async () => {
    waits.close()
    await opened.close()
  }
  const openPrivate = async () => {
    const { openPrivate: open } = await import('./library/private-store.ts')
    return open({ clock: systemClock, halt: opening.halt })
  }
  return storeSession(context, {
    close,
    openPrivate,
    ...(isFound && file !== null && { needsTrust: () => needsTrust(file) }),
  })
}

/** A server instead of a store. The client is loaded only when it is used. */
export async function reachServer({ url, token }: ServerOpening, { env }: Pick<Surroundings, 'env'>): Promise<Session> {
  const { BelfryClient } = await import('./client/belfry-client.ts')
  const ending = new AbortController()
  const client = new BelfryClient({ url, token, signal: ending.signal })
  const call: Session['call'] = (operation, input, how) => client.call(operation, input, how) as never
  return {
    kind: 'server',
    place: url,
    zone: openingOf({}, env).zone,
    call,
    now: () => client.now(),
    standing: async () => ({ now: await client.now(), hasWorker: await hasLiveWorker(call) }),
    close: async () => ending.abort(),
  }
}

/** Serves a model on stdin and stdout. The protocol is loaded only when it is used. */
export async function serveModel(open: () => Promise<StoreSession>, request: ModelRequest): Promise<void> {
  const { Confirmations } = await import('./doors/mcp/confirmations.ts')
  const { servePipes } = await import('./doors/mcp/pipes.ts')
  const { asModel, mcpServer } = await import('./doors/mcp/mcp-server.ts')
  const { packageVersion } = await import('./library/version.ts')
  const { stdin, stdout, beside, ...how } = request
  const context = async () => {
    const session = await open()
    for (const part of beside) part.serves?.(session)
    return { ...session.context, actor: { ...session.context.actor, door: 'mcp' } }
  }
  const server = mcpServer({
    ...how,
    beside,
    context,
    version: packageVersion(),
    confirmations: new Confirmations(randomBytes(32).toString('hex'), systemClock),
  })
  server.oninitialized = () => {
    const notify = (method: string, params: object) => server.notification({ method, params } as never)
    for (const part of beside) part.begin?.({ context: () => asModel(context, how.scope), notify })
  }
  await servePipes(server, stdin, stdout)
}

type Method = (...given: readonly unknown[]) => Promise<unknown>

/** The library is loaded only for a worker: other commands do not need it and would only start later. */
export async function openWorker({ hear, isFound, ...options }: WorkerOpening): Promise<WorkerSession> {
  const { Belfry } = await import('./index.ts')
  const { lines } = await import('./library/log.ts')
  const belfry = await Belfry.open({ ...options, log: false })
  const file = isFound ? fileOf(options.store) : null
  let note: string | null = null
  try {
    if (file !== null) note = await refuseUnmarkedStore(file)
  } catch (error) {
    await belfry.close()
    throw error
  }
  for (const name of Object.keys(lines) as (keyof typeof lines)[]) {
    const { level, say } = lines[name]
    belfry.on(name, (event) => hear({ name, event, level, sentence: say(event as never) }))
  }
  const methods = belfry as unknown as Readonly<Record<string, Method>>
  return {
    place: belfry.place,
    note,
    start: (how) => belfry.start(how),
    serve: (request) => belfry.serve(request),
    async method(name, ...given) {
      // One part may use a method of another, which may be left out.
      if (methods[name] === undefined && leftOutNouns().length > 0) return undefined
      return Reflect.apply(methods[name] as Method, belfry, given)
    },
    drain: (how) => belfry.drain(how),
    stop: (how) => belfry.stop(how),
    nextInstant: () => belfry.nextInstant(),
    async isWaiting() {
      const { runs } = await belfry.runs.list({ status: 'ready', limit: 1 })
      return runs.some(({ waiting }) => waiting === undefined)
    },
    close: () => belfry.close(),
  }
}
