import type { Clock } from '../../core/clock.ts'
import type { EngineEvents, EventName } from '../../engine/events.ts'
import type { Scope } from '../../operations/caller-scope.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { Start } from '../mcp/restart-hint.ts'

/** Everything the command line touches: the terminal, the folder, the store, the server and the worker. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
  /** The words that start this command line, as they can be typed here: `belfry`, `npx belfry`, `node dist/belfry.js`. */
  readonly own: string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly clock: Clock
  /** Opens a store for verbs; nothing is executed by it. */
  open(opening: StoreOpening): Promise<StoreSession>
  /** Turns to a server in place of a store; nothing is sent before something is asked for. */
  reach(opening: ServerOpening): Promise<Session>
  /** Serves verbs to a model, until the pipes close. The store is asked for at each call until it has been opened. */
  model(open: () => Promise<StoreSession>, request: ModelRequest): Promise<void>
  /** Opens a store to become a worker on it. */
  work(opening: WorkerOpening): Promise<WorkerSession>
}

/** Which store, and what of it. */
export interface StoreOpening {
  readonly store: string
  readonly schema?: string
  readonly namespace?: string
  /** Whether a store that is not there is refused instead of being made. */
  readonly mustExist?: boolean
  /** Whether the store is made by the first write, so that a refused command makes none. */
  readonly isMadeLate?: boolean
  /** Whether the store was found and not named, so that one that came with a checked-out tree starts nothing. */
  readonly isFound?: boolean
  /** Whether the store is to bear the mark of this machine from now on. */
  readonly isTrusted?: boolean
}

/** Which server, and what lets us in. */
export interface ServerOpening {
  readonly url: string
  readonly token: string
}

/** What a verb answers. */
type AnswerOf<Op extends AnyOperation> = Promise<Awaited<ReturnType<Op['call']>>>

/** What commands are asked of: a store that is open in this process, or a server. */
export interface Session {
  readonly kind: 'store' | 'server'
  /** Where things are, as people are told: the store, or the address of the server. */
  readonly place: string
  /** The reader's own zone. */
  readonly zone: string
  /** Calls a verb; a rehearsal tells what it would do, and does nothing. */
  call<Op extends AnyOperation>(operation: Op, input: unknown, how?: { readonly isRehearsal?: boolean }): AnswerOf<Op>
  /** What time it is there. */
  now(): Promise<number>
  /** The same, and whether a worker runs there. */
  standing(): Promise<{ readonly now: number; readonly hasWorker: boolean }>
  /** Whether a worker would be refused the store before somebody trusts it; of a server nobody here can tell. */
  needsTrust?(): Promise<boolean>
  /** Lets go of everything, also of what is being asked. */
  close(): Promise<void>
}

export interface StoreSession extends Session {
  readonly context: OperationContext
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

/** An event of the worker, with its sentence for people and how much it matters. */
export interface Heard {
  readonly name: EventName
  readonly event: EngineEvents[EventName]
  readonly level: string
  readonly sentence: string
}

/** Where the HTTP door is open, and the file with the token that lets whoever works here in. */
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

/** How a model is served at this process's own pipes. */
export interface ModelRequest {
  readonly scope: Scope
  /** The names of the tools that are offered. */
  readonly tools: ReadonlySet<string>
  readonly start: Start
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly onUnforeseen: (error: unknown) => void
}

export interface WorkerSession {
  readonly place: string
  /** What the user should hear of where the store came from. */
  readonly note: string | null
  /** Opens the HTTP door beside the worker. */
  serve(request: ServeRequest): Promise<Serving>
  /** Calls a method that a part gives the library. */
  method(name: string, ...given: readonly unknown[]): Promise<unknown>
  start(options: { readonly slots?: number; readonly queues?: string[] }): Promise<void>
  /** Does all that is due now, and the runs that become due within `forMs`; answers when it has ended. */
  drain(options: { readonly forMs: number }): Promise<void>
  stop(options: { readonly graceMs?: number }): Promise<void>
  /** When time alone will next make something happen. */
  nextInstant(): Promise<number | null>
  /** Whether runs are ready and could not go. */
  isWaiting(): Promise<boolean>
  close(): Promise<void>
}
