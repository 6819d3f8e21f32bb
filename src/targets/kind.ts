import type { z } from 'zod'
import type { EndFact } from '../core/run/expect.ts'
import type { Target } from '../core/target.ts'
import type { Execute } from './attempt.ts'
import type { NetworkPolicy } from './http/address-guard.ts'
import type { MessageOf, WriteMessage } from './message.ts'
import type { SecretResolver } from './secret.ts'
import type { TargetProblem } from './target-problem.ts'

/**
 * A kind of target: everything that Belfry knows of it. All its data are in the field of its name, because the kind of a target is
 * its one field that is not in `besideKind` (`core/target.ts`).
 */
export interface TargetKind {
  /** The field of a target that names it. */
  readonly name: string
  /** Its name in sentences: `a command`. */
  readonly called: string
  /** Its fields, for schemas; `problems` does the validation. */
  readonly form: z.ZodObject
  /** All problems of a target as it would be stored. */
  problems(target: Target): TargetProblem[]
  /** The target as it is stored, with paths resolved against the folder. */
  resolved?(target: Target, folder: string): Target
  /** Problems of paths in a target that must exist in this folder, and do not. */
  absent?(target: Target, folder: string): TargetProblem[]
  /** The name of its executor, where this kind has names. */
  laneOf?(target: Target): string
  /** What it does, in words. `word` quotes an argument of a program; secrets, headers and bodies are not shown. */
  words(target: Target, word: (text: string) => string): string
  /** Its CLI flags. The first one names the kind. */
  readonly flags: readonly TargetFlag[]
  /** Whether the words after `--` belong to the first flag. */
  readonly takesWords?: true
  /** The default timeout of an attempt. Default: none. */
  readonly timeoutMs?: number
  /** The timeouts that an attempt may have. Default: any. */
  readonly timeoutRangeMs?: { readonly min: number; readonly max: number }
  /** The length of its leases, where that is longer than the worker's. */
  readonly leaseMs?: number
  /** The queue of all its runs. Default: any; work names its own. */
  readonly queue?: string
  /** Whether it starts programs with the rights of the worker, so that only an admin may write it. */
  readonly startsPrograms?: true
  /** Where the secrets of a target go, for the person who decides whether to trust it. */
  receiverOf?(target: Target): string
  /** How the messages of parts are sent by it; as a clause, why none is. */
  readonly message?: MessageManner | string
  /** Of a kind that callers may not write: why, as a clause. Only Belfry enqueues it. */
  readonly closed?: string
  /** Why it is never known what runs of the executor of this name cost, as a clause; null where it may be. */
  unpriced?(name: string): string | null
  /** Whether what its attempts used can stand only in their answers. Default: they report it as they run. */
  readonly reportsUsage?: 'in-answer'
  /** The facts of its end that an expectation can check, besides text and JSON. */
  readonly gives?: readonly EndFact[]
  /** Whether its end stands although the worker or the lease was ending: only code of this process knows that it has finished. */
  readonly knowsItsEnd?: true
  /** How to get a worker with the executor of this name. */
  serving?(name: string): string
  /** Whether a run is tried again when its effect is not known, where neither the run nor its schedule says so. Default: it is. */
  repeats?(target: Target): boolean
  /** Options of its runs, where neither the run nor its schedule gives them. */
  optionsOf?(target: Target): Readonly<Record<string, unknown>>
  /** The concurrency key of its runs, where neither the run nor its schedule gives one. */
  keyOf?(target: Target): string | undefined
  /** How long it may take to end what it began after it was told to stop, where that is longer than for other kinds. */
  readonly stopMs?: number
  /** How long its attempts may finish when their worker stops, unless that worker is told how long to wait. Default: as the worker waits. */
  readonly graceMs?: number
  /** The same kind, as it is with what the store has: `declared` are the sections of a file that is being applied. */
  inStore?(store: KindStore, declared?: Readonly<Record<string, unknown>>): Promise<TargetKind>
  /** Creates its executor. Absent where programs register their own. Only workers call it, and it loads what only they need. */
  executor?(host: ExecutorHost): Promise<KindExecutor>
}

export interface TargetFlag {
  readonly flag: `--${string}`
  /** Its value in help; in brackets where it is optional. */
  readonly value: string
  readonly says: string
  /** Its field in the target: `http.url`. */
  readonly field: string
  /** How it is read. A pair and a secret name an entry of the field, and may be repeated; a file may be read for a text. Default: text. */
  readonly reads?: 'pair' | 'secret' | 'file' | 'number'
}

/** What differs where a target sends messages of a part. */
export interface MessageManner {
  readonly form: z.ZodObject
  problems(target: Target): TargetProblem[]
  resolved?(target: Target): Target
}

/** The store, for kinds of parts that keep something there. This layer does not know its steps. */
export interface KindStore {
  readonly namespace: string
  /** Where the store is: the path of a file, or a URL. */
  readonly place: string
  do<Args extends unknown[], Result>(verb: KindStep<Args, Result>, ...args: Args): Promise<Result>
  look<Args extends unknown[], Result>(read: KindStep<Args, Result>, ...args: Args): Promise<Result>
}

type KindStep<Args extends unknown[], Result> = (context: never, ...args: Args) => Generator<unknown, Result, never>

/** What an executor is created from. */
export interface ExecutorHost {
  readonly store: KindStore
  readonly secrets: SecretResolver
  /** How long a program may take after TERM before it is killed. */
  readonly killAfterMs: number
  readonly network: NetworkPolicy
  /** The messages that runs of parts send. */
  readonly messageOf: MessageOf
  /** The address of the server in this process, while there is one. */
  readonly serverUrl?: () => string | undefined
  /** The executor of another target in this process, for a kind whose work is a target in itself; null where there is none. */
  executeOf(target: Target): Execute | null
}

/** Executes the targets of a kind in this process. */
export interface KindExecutor {
  /** Executes any of them. */
  readonly execute?: Execute
  /** Executes those of a lane, by the lane's name. */
  readonly named?: ReadonlyMap<string, Execute>
  /** The timeout of a target, where it differs from that of the kind. */
  timeoutMsOf?(target: Target): number | undefined
  /** Finds out again what it can execute; a worker asks at each beat. */
  refresh?(): Promise<void>
  /** Ends what it still holds when the process ends. */
  close?(): Promise<void>
}

/** The kind of a target, if it names one. */
export function kindOf(target: unknown, kinds: readonly TargetKind[]): TargetKind | undefined {
  if (typeof target !== 'object' || target === null) return undefined
  return kinds.find(({ name }) => (target as Target)[name] !== undefined)
}

/** What a part adds to the targets. */
export interface TargetPart {
  readonly kinds?: readonly TargetKind[]
  /** How the payloads of its runs are written for receivers outside, by the sources of these runs. */
  readonly messages?: Readonly<Record<string, WriteMessage>>
}
