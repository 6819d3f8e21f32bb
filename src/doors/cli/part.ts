import type { Problem } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { StoreLocation } from './session/store-location.ts'
import type { Reader } from './show/output-reader.ts'
import type { StoreSession, WorkerSession, World } from './world.ts'

/** A flag as commander and help read it: `--config <file>`. */
export interface CommandFlag {
  readonly flags: string
  readonly says: string
}

/** The typed flags of a command by name; its argument is `file`. */
export type Flags = Readonly<Record<string, unknown>>

export interface CommandContext {
  readonly world: World
  readonly reader: Reader
  /** Whether the line is refused anyway, so that the command only reports further problems. */
  readonly isJudged: boolean
}

/** A command that is no verb, because it works on files or processes of this machine. */
export interface LocalCommand {
  readonly name: string
  readonly says: string
  readonly usage: string
  /** The name of its argument, if it takes one. */
  readonly file?: string
  readonly options: readonly CommandFlag[]
  /** Whether an agent may type it in its run. Default: it may not, because a command here acts with the rights of a person. */
  readonly inRun?: true
  /** The meaning of `--store` without a value, where that is allowed. */
  readonly storeAlone?: string
  /** Loaded only when the command is typed; resolves with the exit code. */
  readonly load: () => Promise<(flags: Flags, around: CommandContext) => Promise<number>>
}

/** Worker settings where neither a flag nor a variable sets them. */
export interface WorkerDefaults {
  readonly listenFromConfig?: string
  readonly behindProxy?: true
  readonly hosts?: string
}

export interface WorkerPartContext extends Pick<OperationContext, 'kinds' | 'sections'> {
  readonly place: StoreLocation
  readonly world: World
}

/** The effect of a part's flags on a worker. */
export interface WorkerPart {
  readonly said?: WorkerDefaults
  /** Starts once the store is open and before the first lease, so that its writes apply to the first run. */
  begin?(worker: WorkerSession): Promise<void>
}

/** Where a part serves a model in place of the verbs. */
export interface ServingContext {
  readonly context: OperationContext
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
}

/** What a part does beside the tools of `belfry mcp`, for the one model that is served. */
export interface ModelPart {
  /** Tools that the part needs, besides the chosen ones. */
  readonly tools?: readonly string[]
  /** Fields that are given for the model, by tool: it neither sees nor sets them. */
  readonly fixed?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Non-standard capabilities of the server, and the instructions for the model about them. */
  readonly experimental?: Readonly<Record<string, object>>
  readonly instructions?: string
  /** Called once the store is open. What it refuses is said before the model is served; a thing that is not found may come later. */
  opened?(context: OperationContext): Promise<void>
  /** Called with the store before each call. */
  serves?(session: StoreSession): void
  /** Called once the model is connected. `open` finds the store, as calls do. */
  begin?(model: ConnectedModel): void
  close(): Promise<void>
}

export interface ConnectedModel {
  /** The context of the verbs, for the model as their caller. */
  context(): Promise<OperationContext>
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>
}

export interface CliPart {
  /** The flags that `belfry mcp` takes for the part, and what they do. */
  readonly mcp?: {
    readonly options: readonly CommandFlag[]
    readonly load: () => Promise<(flags: Flags, problems: Problem[], world: World) => ModelPart>
  }
  readonly commands?: readonly LocalCommand[]
  /** The flags that `belfry up` takes for the part, and what they do. Loaded only when a worker starts. */
  readonly up?: {
    readonly options: readonly CommandFlag[]
    readonly load: () => Promise<(flags: Flags, around: WorkerPartContext) => Promise<WorkerPart>>
  }
  /** What `belfry mcp` serves in place of the verbs when its flag is given. Loaded only then. */
  readonly serves?: {
    readonly flag: string
    readonly option: CommandFlag
    readonly load: () => Promise<(given: string, around: ServingContext) => Promise<void>>
  }
  /** How `belfry trust` trusts a file, and its help. */
  readonly trusts?: {
    readonly says: string
    readonly load: () => Promise<(flags: Flags, around: Omit<CommandContext, 'reader'>) => Promise<number>>
  }
}
