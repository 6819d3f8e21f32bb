import type { Clock } from '../../core/clock.ts'
import type { EngineEvents, EventName } from '../../engine/events.ts'
import type { Scope } from '../../operations/caller-scope.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import type { OperationContext, PrivateStore } from '../../operations/operation-context.ts'
import type { Start } from '../mcp/restart-hint.ts'
import type { ModelPart } from './part.ts'

/** Everything the command line touches: the terminal, the folder, the store, the server and the worker. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
  /** The words with which this command line was started: `belfry`, `npx belfry`, `node dist/belfry.js`. */
  readonly own: string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly clock: Clock
  /** Opens a store for verbs; it executes no runs. */
  open(opening: StoreOpening): Promise<StoreSession>
  /** Connects to a server instead of a store; nothing is sent before the first call. */
  reach(opening: ServerOpening): Promise<Session>
  /** Serves verbs to a model until the pipes close. The store is opened by the first call that finds it. */
  model(open: () => Promise<StoreSession>, request: ModelRequest): Promise<void>
  /** Opens a store as a worker. */
  work(opening: WorkerOpening): Promise<WorkerSession>
}

export interface StoreOpening {
  readonly store: string
  readonly schema?: string
  readonly namespace?: string
  /** Whether a missing store is refused instead of being created. */
  readonly mustExist?: boolean
  /** Whether the first write creates the store, so that a refused command creates none. */
  readonly isMadeLate?: boolean
  /** Whether the store was found rather than named: such a store starts nothing if it came with a checked-out tree. */
  readonly isFound?: boolean
  /** Whether the store gets the mark of this machine. */
  readonly isTrusted?: boolean
}

/** A server, and the token for it. */
export interface ServerOpening {
  readonly url: string
  readonly token: string
}

type AnswerOf<Op extends AnyOperation> = Promise<Awaited<ReturnType<Op['call']>>>

/** Where commands go: a store that is open in this process, or a server. */
export interface Session {
  readonly kind: 'store' | 'server'
  /** The store or the address of the server, as it is shown. */
  readonly place: string
  /** The reader's time zone. */
  readonly zone: string
  /** Calls a verb; a dry run writes nothing. */
  call<Op extends AnyOperation>(operation: Op, input: unknown, how?: { readonly isRehearsal?: boolean }): AnswerOf<Op>
  /** The time of the store's clock. */
  now(): Promise<number>
  /** The same, and whether a worker runs there. */
  standing(): Promise<{ readonly now: number; readonly hasWorker: boolean }>
  /** Whether a worker would be refused the store before a user trusts it. False for a server, whose store is not known here. */
  needsTrust?(): Promise<boolean>
  /** Closes everything, calls in progress included. */
  close(): Promise<void>
}

export interface StoreSession extends Session {
  readonly context: OperationContext
  /** Opens a store of this process alone; its caller closes it. */
  readonly openPrivate: () => Promise<PrivateStore>
}

export interface WorkerOpening extends StoreOpening {
  readonly isFound: boolean
  readonly secretsFolder: string
  readonly network: {
    readonly allowLoopback?: boolean
    readonly allowPrivate?: boolean
    readonly allowHosts?: string[]
  }
  readonly name?: string
  readonly hear: (heard: Heard) => void
}

/** A worker event with its sentence and level. */
export interface Heard {
  readonly name: EventName
  readonly event: EngineEvents[EventName]
  readonly level: string
  readonly sentence: string
}

/** The address of the HTTP door, and the file with the local token. */
export interface Serving {
  readonly url: string
  readonly token: { readonly file: string; readonly isNew: boolean } | null
}

export interface ServeRequest {
  readonly listen: string
  readonly tokenFolder: string
  readonly behindProxy?: boolean
  readonly hosts?: string[]
}

/** How a model is served on stdin and stdout. */
export interface ModelRequest {
  readonly scope: Scope
  readonly tools: ReadonlySet<string>
  /** Whether the model is an agent in its run. */
  readonly isInRun: boolean
  readonly start: Start
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly onUnforeseen: (error: unknown) => void
  /** What parts add to this server. */
  readonly beside: readonly ModelPart[]
}

export interface WorkerSession {
  readonly place: string
  /** Notes for the user about where the store was found. */
  readonly note: string | null
  /** Opens the HTTP door in the worker's process. */
  serve(request: ServeRequest): Promise<Serving>
  /** Calls a method that a part adds to the library. */
  method(name: string, ...given: readonly unknown[]): Promise<unknown>
  start(options: { readonly slots?: number; readonly queues?: string[] }): Promise<void>
  /** Does everything that is due now, and the runs that come due within `forMs`; resolves when they have ended. */
  drain(options: { readonly forMs: number }): Promise<void>
  stop(options: { readonly graceMs?: number }): Promise<void>
  /** The next instant at which something is due. */
  nextInstant(): Promise<number | null>
  /** Whether there are ready runs that could not start. */
  isWaiting(): Promise<boolean>
  close(): Promise<void>
}
