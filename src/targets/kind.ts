import type { z } from 'zod'
import type { EndFact } from '../core/run/expect.ts'
import type { Target } from '../core/target.ts'
import type { Execute } from './attempt.ts'
import type { NetworkPolicy } from './http/address-guard.ts'
import type { MessageOf, WriteMessage } from './message.ts'
import type { SecretResolver } from './secret.ts'
import type { TargetProblem } from './target-problem.ts'

/**
 * A kind of target, whole: everything that Belfry knows of it. All of what it says stands in the field of its name, because a target is
 * known by the one field that is no kind's neighbour (`core/target.ts`).
 */
export interface TargetKind {
  /** The field of a target that names it. */
  readonly name: string
  /** What sentences call it: `a command`. */
  readonly called: string
  /** Its fields, for readers of schemas; what is wrong with a target is said by `problems`. */
  readonly form: z.ZodObject
  /** Everything that is wrong with a target as it would be stored. */
  problems(target: Target): TargetProblem[]
  /** The target as it is stored: paths that are relative to the folder are resolved. */
  resolved?(target: Target, folder: string): Target
  /** What a target names that must be in this folder, and is not. */
  absent?(target: Target, folder: string): TargetProblem[]
  /** The name of the executor that it asks for, where those of this kind have names. */
  laneOf?(target: Target): string
  /** What it does, in words. `word` spells an argument of a program; secrets, headers and bodies are not shown. */
  words(target: Target, word: (text: string) => string): string
  /** The flags that say it at a command line. The first one names the kind. */
  readonly flags: readonly TargetFlag[]
  /** Whether what stands behind `--` belongs to the first flag. */
  readonly takesWords?: true
  /** How long an attempt may take unless its run says otherwise. Default: no end. */
  readonly timeoutMs?: number
  /** How long its leases last, where that is longer than those of the worker. */
  readonly leaseMs?: number
  /** Whether it starts programs with the rights of the worker, so that only an admin may write it. */
  readonly startsPrograms?: true
  /** Where the secrets of a target go, for whoever decides whether to trust it. */
  receiverOf?(target: Target): string
  /** How the messages of parts are sent by it; as a clause, why none is. */
  readonly message?: MessageManner | string
  /** Of a kind that callers may not write: why, as a clause. Only Belfry enqueues it. */
  readonly closed?: string
  /** What an end of it has that an expectation can judge, besides text and JSON. */
  readonly gives?: readonly EndFact[]
  /** Whether its end stands although the worker or the lease was ending: only code of this process knows that it has come to its end. */
  readonly knowsItsEnd?: true
  /** What has to be done so that a worker has the executor of this name. */
  serving?(name: string): string
  /** Makes what executes it. Absent where programs register their own. It is called by workers only, and loads what only they need. */
  executor?(host: ExecutorHost): Promise<KindExecutor>
}

/** A flag of a target. */
export interface TargetFlag {
  readonly flag: `--${string}`
  /** What stands behind it in help; in brackets where it may be left out. */
  readonly value: string
  readonly says: string
  /** Where it stands in the target: `http.url`. */
  readonly field: string
  /** How it is read. A pair and a secret name an entry of the field, and may be repeated; a file may be read for a text. Default: text. */
  readonly reads?: 'pair' | 'secret' | 'file'
}

/** What differs where a target sends messages of a part. */
export interface MessageManner {
  readonly form: z.ZodObject
  problems(target: Target): TargetProblem[]
  resolved?(target: Target): Target
}

/** What an executor is made from. */
export interface ExecutorHost {
  readonly secrets: SecretResolver
  /** How long a program that was asked to end may take before it is killed. */
  readonly killAfterMs: number
  readonly network: NetworkPolicy
  /** The messages that runs of parts send. */
  readonly messageOf: MessageOf
}

/** What executes the targets of a kind in this process. */
export interface KindExecutor {
  /** Executes any of them. */
  readonly execute?: Execute
  /** Executes those of a lane, by the lane's name. */
  readonly named?: ReadonlyMap<string, Execute>
  /** Ends what it still holds when the process ends. */
  close?(): Promise<void>
}

/** The kind that a target names, where it names one. */
export function kindOf(target: unknown, kinds: readonly TargetKind[]): TargetKind | undefined {
  if (typeof target !== 'object' || target === null) return undefined
  return kinds.find(({ name }) => (target as Target)[name] !== undefined)
}

/** What a part brings to the targets. */
export interface TargetPart {
  readonly kinds?: readonly TargetKind[]
  /** How the payloads of its runs are written for receivers outside, by the sources of these runs. */
  readonly messages?: Readonly<Record<string, WriteMessage>>
}
