import type { z } from 'zod'
import type { EndFact } from '../core/run/expect.ts'
import type { Estimate } from '../core/run/usage.ts'
import type { Target } from '../core/target.ts'
import type { Execute } from './attempt.ts'
import type { NetworkPolicy } from './http/address-guard.ts'
import type { MessageOf, WriteMessage } from './message.ts'
import type { SecretResolver } from './secret.ts'
import type { TargetProblem } from './target-problem.ts'

/**
 * A kind of target, with everything that Belfry needs to know about it. All data of a target are in the field named after its
 * kind, because the kind of a target is its one field that is not in `besideKind` (`core/target.ts`).
 */
export interface TargetKind {
  /** The name of the kind, which is the field of the target with its data. */
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
  /**
   * What a target of this kind does, in words. `word` quotes an argument of a program; secrets, headers and bodies
   * are not shown.
   */
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
  /** Where the secrets of a target are sent, for the person who decides whether to trust it. */
  receiverOf?(target: Target): string
  /** How it sends the messages of parts; or, as a clause, why it cannot. */
  readonly message?: MessageManner | string
  /** For a kind that only Belfry may enqueue: why callers may not write it, as a clause. */
  readonly closed?: string
  /** Why the cost of runs of the executor with this name is never known, as a clause; null if it may be known. */
  unpriced?(name: string): string | null
  /** Whether the usage of an attempt is known only from its answer. Default: attempts report it while they run. */
  readonly reportsUsage?: 'in-answer'
  /** The facts about the end of an attempt that an expectation can check, besides text and JSON. */
  readonly gives?: readonly EndFact[]
  /**
   * Whether the end of an attempt counts even if the worker or the lease was ending: true for code in this process, which knows
   * that it has finished.
   */
  readonly knowsItsEnd?: true
  /** The names that its executors may have, where all are known: that is so only of a kind that `inStore` has completed. */
  readonly names?: KindNames
  /** How to get a worker with the executor of this name. */
  serving?(name: string): string
  /** Whether a run is tried again when its effect is not known, where neither the run nor its schedule says so. Default: it is. */
  repeats?(target: Target): boolean
  /** Options of its runs, where neither the run nor its schedule gives them. */
  optionsOf?(target: Target): Readonly<Record<string, unknown>>
  /** The concurrency key of its runs, where neither the run nor its schedule gives one. */
  keyOf?(target: Target): string | undefined
  /** How long an attempt may take to clean up after it was told to stop, where that is longer than for other kinds. */
  readonly stopMs?: number
  /**
   * How long its attempts may finish when their worker stops, unless that worker was given a grace period. Default: the grace period of the
   * worker.
   */
  readonly graceMs?: number
  /**
   * The same kind, completed with data from the store. `declared`: the sections of a config file that is being
   * applied.
   */
  inStore?(store: KindStore, declared?: Readonly<Record<string, unknown>>): Promise<TargetKind>
  /**
   * Creates its executor. Absent where programs register their own. Only workers call this function, and it loads code that
   * only workers need.
   */
  executor?(host: ExecutorHost): Promise<KindExecutor>
}

/** The names of the executors of a kind. */
export interface KindNames {
  /** Its noun in sentences: `profile`. */
  readonly noun: string
  readonly known: readonly string[]
  /** The words of the command that lists them. */
  readonly listedBy: readonly string[]
}

export interface TargetFlag {
  readonly flag: `--${string}`
  /** The placeholder of its value in help; in brackets if the value is optional. */
  readonly value: string
  readonly says: string
  /** The field of the target that the flag sets: `http.url`. */
  readonly field: string
  /**
   * How the value is read. A pair and a secret each set one entry of the field, and may be repeated; a text may be read from a file.
   * Default: text.
   */
  readonly reads?: 'pair' | 'secret' | 'file' | 'number'
}

/** The differences for a target that sends messages of a part. */
export interface MessageManner {
  readonly form: z.ZodObject
  problems(target: Target): TargetProblem[]
  resolved?(target: Target): Target
}

/** The store, for kinds that keep data there. This layer does not know its steps. */
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
  /** Emits an event of the library. This layer does not know their names. */
  tell(event: string, facts: object): void
}

/** Executes targets of a kind in this process. */
export interface KindExecutor {
  /** Executes any target of the kind. */
  readonly execute?: Execute
  /** Executes the targets of one lane, by the name of the lane. */
  readonly named?: ReadonlyMap<string, Execute>
  /** The timeout of a target, where it differs from that of the kind. */
  timeoutMsOf?(target: Target): number | undefined
  /** What a run of a target is expected to use, for budgets that know no run like it. */
  estimateOf?(target: Target): Estimate | undefined
  /** Finds out again what it can execute; a worker calls this at each heartbeat. */
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
  /** How the payloads of its runs are written for receivers, by run source. */
  readonly messages?: Readonly<Record<string, WriteMessage>>
}
