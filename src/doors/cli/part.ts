import type { OperationContext } from '../../operations/operation-context.ts'
import type { StoreLocation } from './session/store-location.ts'
import type { Reader } from './show/output-reader.ts'
import type { WorkerSession, World } from './world.ts'

/** A flag as commander and help read it: `--config <file>`. */
export interface CommandFlag {
  readonly flags: string
  readonly says: string
}

/** What was typed behind a command, by the names of its flags; its argument is `file`. */
export type Flags = Readonly<Record<string, unknown>>

export interface CommandContext {
  readonly world: World
  readonly reader: Reader
  /** Whether the line is refused anyhow, so that the command only finds what else is wrong with it. */
  readonly isJudged: boolean
}

/** A command that is no verb, because it is about files or processes of this machine. */
export interface LocalCommand {
  readonly name: string
  readonly says: string
  readonly usage: string
  /** What its one argument is, where it takes one. */
  readonly file?: string
  readonly options: readonly CommandFlag[]
  /** What `--store` means where it may stand without a value. */
  readonly storeAlone?: string
  /** Loaded only where the command is typed; answers with the exit code. */
  readonly load: () => Promise<(flags: Flags, around: CommandContext) => Promise<number>>
}

/** What holds of a worker where neither a flag nor a variable says it. */
export interface WorkerDefaults {
  readonly listenFromConfig?: string
  readonly behindProxy?: true
  readonly hosts?: string
}

export interface WorkerPartContext extends Pick<OperationContext, 'kinds' | 'sections'> {
  readonly place: StoreLocation
  readonly world: World
}

/** What the flags of a part come to beside a worker. */
export interface WorkerPart {
  readonly said?: WorkerDefaults
  /** Begins once the store is open and before anything is leased: what it writes holds for the first run already. */
  begin?(worker: WorkerSession): Promise<void>
}

/** What a part brings to the command line. */
export interface CliPart {
  readonly commands?: readonly LocalCommand[]
  /** What `belfry up` takes and does for the part besides. Loaded only where a worker starts. */
  readonly up?: {
    readonly options: readonly CommandFlag[]
    readonly load: () => Promise<(flags: Flags, around: WorkerPartContext) => Promise<WorkerPart>>
  }
  /** How a file is trusted that `belfry trust` names, and what help says of that file. */
  readonly trusts?: {
    readonly says: string
    readonly load: () => Promise<(flags: Flags, around: Omit<CommandContext, 'reader'>) => Promise<number>>
  }
}
