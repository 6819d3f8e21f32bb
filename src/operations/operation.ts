import { z } from 'zod'
import { callerKind } from '../core/caller.ts'
import { auditSubject } from './audit-subject.ts'
import { refuseBeyondScope, type Scope, targetsIn } from './caller-scope.ts'
import type { DoorFacts } from './door-facts.ts'
import type { VerbErrorCode } from './error-codes.ts'
import { withAdded } from './fields/added-fields.ts'
import { type Reading, read } from './input/read-input.ts'
import { type Problem, refuse } from './input/refuse-input.ts'
import type { OperationContext } from './operation-context.ts'
import { boundCall, refuseAgent } from './refuse-agent.ts'
import type { Shown } from './schema/output-schema.ts'
import type { Show } from './show.ts'
import { kindsInStore } from './target/kinds-in-store.ts'

/** The noun that a verb belongs to. The library has a property for each, named by its plural. */
export type Noun = string

/** The effect of a call: a read, a write, or a destructive write that cannot be undone by itself. */
export type Effect = 'read' | 'write' | 'destructive'

/** The doors that offer a verb; a sentence gives the reason where one does not. The library offers every verb. */
export interface Doors {
  readonly library: true
  readonly cli: true | string
  readonly http: true | string
  readonly mcp: true | string
}

export const everyDoor: Doors = { library: true, cli: true, http: true, mcp: true }

/** A verb as doors know it. */
interface Entry<
  OfNoun extends Noun,
  Verb extends string,
  Input extends z.ZodObject,
  Takes extends readonly string[],
  Local extends z.ZodObject,
  Answer,
> extends DoorFacts<Answer> {
  readonly noun: OfNoun
  readonly verb: Verb
  /** One imperative sentence for help and documents. */
  readonly says: string
  /** The request as refusals name it: "is not a field of a pause". */
  readonly request: string
  readonly effect: Effect
  /** The least scope of the caller; `scopeOf` says what a particular input needs. */
  readonly scope: Scope
  /** Whether an agent may not call it, whatever its scope; the refusal is audited, and MCP does not offer the verb. */
  readonly persons?: true
  /** Whether an agent may call it with the token of its run; the verb keeps it within the bounds of the run. Default: it may not. */
  readonly inRun?: true
  /** Whether only admins may give a target or notification that starts programs or sends secrets. */
  readonly adminForCommands?: true
  /** Whether it supports a dry run on a store that discards its writes. */
  readonly rehearses?: true
  /** The whole input, with the name or id of its subject. */
  readonly input: Input
  /** The fields that are positional arguments, in order, at doors that have them. */
  readonly takes: Takes
  /** Options that only a caller in this process can give, beside the input: a transaction, a signal. */
  readonly local: Local
  /** The answer. Instants in it are epoch ms. */
  readonly output: z.ZodType<Answer>
  /** Error codes that it may refuse with, besides those of every verb. */
  readonly errors: readonly VerbErrorCode[]
  readonly doors: Doors
  /** Its words at the command line, where they are not noun and verb. */
  readonly command?: readonly string[]
  /** Other command-line words for it, for people who look under another noun. */
  readonly aliases?: readonly (readonly string[])[]
  /** The subject in the audit log (`run r-11`), where the input has no name or id of the noun. The input is not validated yet. */
  about?(given: Readonly<Record<string, unknown>>): string
  /** Example inputs, for help and documents. */
  readonly examples: readonly z.input<Input>[]
  /** The input for the next page of a list; null at the end. */
  nextPage?(answer: NoInfer<Answer>, asked: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null
}

export interface Operation<
  OfNoun extends Noun,
  Verb extends string,
  Input extends z.ZodObject,
  Takes extends readonly string[],
  Local extends z.ZodObject,
  Answer,
> extends Entry<OfNoun, Verb, Input, Takes, Local, Answer> {
  /** The entry point for every door, with unvalidated input: bad input is refused whole. */
  call(context: OperationContext, input: unknown, local?: unknown): Promise<Answer>
}

export type AnyOperation = Operation<Noun, string, z.ZodObject, readonly string[], z.ZodObject, unknown>

/** A verb whose schemas state every rule for its input. */
interface Runs<Input extends z.ZodObject, Local extends z.ZodObject, Answer> {
  run(context: OperationContext, input: z.output<Input>, local: z.output<Local>): Promise<Shown<Answer>>
}

/**
 * A verb with rules beyond its schema: between fields, or against the store. It receives the readable input with its problems,
 * and refuses both kinds together, so that the caller sees all problems at once.
 */
interface Judges<Input extends z.ZodObject, Local extends z.ZodObject, Answer> {
  judge(
    context: OperationContext,
    reading: Reading<z.output<Input>>,
    local: Partial<z.output<Local>>,
  ): Promise<Shown<Answer>>
}

const noLocal = z.strictObject({})
export type NoLocal = typeof noLocal

export function operation<
  const OfNoun extends Noun,
  const Verb extends string,
  Input extends z.ZodObject,
  const Takes extends readonly (keyof z.input<Input> & string)[],
  Answer,
  Local extends z.ZodObject = NoLocal,
>(
  entry: Omit<Entry<OfNoun, Verb, Input, Takes, Local, Answer>, 'local' | 'show'> & {
    readonly local?: Local
    readonly show?: Show<Shown<NoInfer<Answer>>>
  } & (Runs<Input, Local, NoInfer<Answer>> | Judges<Input, Local, NoInfer<Answer>>),
): Operation<OfNoun, Verb, Input, Takes, Local, Answer> {
  const { local = noLocal as unknown as Local } = entry
  return Object.freeze({
    ...(entry as Omit<typeof entry, 'show'> & { readonly show?: Show<unknown> }),
    local,
    async call(context: OperationContext, input: unknown, given: unknown = {}): Promise<Answer> {
      if (context.actor?.within === undefined) return answered(context, input, given)
      return boundCall(context, { entry, input }, () => answered(context, input, given))
    },
  })
  async function answered(context: OperationContext, input: unknown, given: unknown): Promise<Answer> {
    const schema = withAdded(entry.input, context.fields)
    if (entry.persons === true && callerKind(context.actor) === 'agent') await refuseAgent(context, entry, input)
    refuseBeyondScope(context, { ...entry, input: schema }, input)
    const reading = read(schema, input, entry.request)
    const beside = read(local, given, `the options of ${entry.request}`)
    const problems: Problem[] = [...reading.problems, ...beside.problems]
    const around = entry.adminForCommands === true ? await withKinds(context, targetsIn(schema, input)) : context
    const noted = audited(around, entry, reading.given)
    if ('judge' in entry) return (await entry.judge(noted, { ...reading, problems }, beside.value)) as Answer
    refuse(subjectOf(entry.request), problems)
    return (await entry.run(noted, reading.value as z.output<Input>, beside.value as z.output<Local>)) as Answer
  }
}

/** Nearly every call has no target whose kind depends on the store, and so nothing to wait for. */
function withKinds(
  context: OperationContext,
  targets: readonly unknown[],
): OperationContext | Promise<OperationContext> {
  const kinds = kindsInStore(context, targets)
  if (kinds === context.kinds) return context
  return Promise.resolve(kinds).then((known) => ({ ...context, kinds: known }))
}

/**
 * Records who changed what through an outside door. A program with the store open in its own process is not recorded: it may
 * make a thousand changes a second.
 */
function audited(
  context: OperationContext,
  entry: Pick<AnyOperation, 'noun' | 'verb' | 'effect' | 'about'>,
  given: Reading<unknown>['given'],
): OperationContext {
  const { actor, store } = context
  const { noun, verb, effect } = entry
  if (effect === 'read' || actor.door === 'library') return context
  const subject = auditSubject(entry, given as Readonly<Record<string, unknown>>)
  const { reason } = given as { readonly reason?: unknown }
  const detail = typeof reason === 'string' ? { detail: { reason: reason.slice(0, 500) } } : {}
  return { ...context, store: store.audited({ actor, verb: `${noun}.${verb}`, subject, ...detail }) }
}

/** The command-line words of a verb: `clearHints` of a schedule is `schedule clear-hints`. */
export function commandOf({ noun, verb, command }: Pick<AnyOperation, 'noun' | 'verb' | 'command'>): readonly string[] {
  return command ?? [noun, verbWords(verb)]
}

/** `clear-hints` for `clearHints`. */
export function verbWords(verb: string): string {
  return verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The request as the subject of a sentence: "The pause is refused". */
export function subjectOf(request: string): string {
  return request.replace(/^an? /, 'The ')
}
