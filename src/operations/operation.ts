import { z } from 'zod'
import { refuseBeyondScope, type Scope } from './caller-scope.ts'
import type { DoorFacts } from './door-facts.ts'
import type { VerbErrorCode } from './error-codes.ts'
import { withAdded } from './fields/added-fields.ts'
import { type Reading, read } from './input/read-input.ts'
import { type Problem, refuse } from './input/refuse-input.ts'
import type { OperationContext } from './operation-context.ts'
import type { Show } from './show.ts'

/** What a verb is about. The library has a property for each, named by its plural. */
export type Noun = string

/** What a call does: looks, changes something, or ends something that does not come back by itself. */
export type Effect = 'read' | 'write' | 'destructive'

/** The ways in to a verb; a sentence says why it lacks one. The library lacks none. */
export interface Doors {
  readonly library: true
  readonly cli: true | string
  readonly http: true | string
  readonly mcp: true | string
}

export const everyDoor: Doors = { library: true, cli: true, http: true, mcp: true }

/** What doors know of a verb. */
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
  /** One sentence for help and documents. */
  readonly says: string
  /** What a call asks for, as refusals name it: "is not a field of a pause". */
  readonly request: string
  readonly effect: Effect
  /** What a caller must be allowed at least; `scopeOf` says what a certain input needs. */
  readonly scope: Scope
  /** Whether an input with a target that starts programs, or sends secrets, is only for those who may do anything. */
  readonly adminForCommands?: true
  /** Whether it answers on a store that only rehearses what it would have answered, and leaves nothing behind. */
  readonly rehearses?: true
  /** Everything that can be asked for, also the name or id of what it is about. */
  readonly input: Input
  /** The fields that are arguments rather than options where a door has arguments, in their order. */
  readonly takes: Takes
  /** What only a caller in this process can give, beside the input: a transaction, a signal. */
  readonly local: Local
  /** What is answered. Instants in it are epoch ms. */
  readonly output: z.ZodType<Answer>
  /** What it may refuse with, besides what every verb may. */
  readonly errors: readonly VerbErrorCode[]
  readonly doors: Doors
  /** The words of the command line, where people know others than noun and verb. */
  readonly command?: readonly string[]
  /** Other words for it at the command line, where people look for it under another noun. */
  readonly aliases?: readonly (readonly string[])[]
  /** What a call changes, as the audit names it (`run r-11`), where the input has no name or id of the noun. It sees unjudged input. */
  about?(given: Readonly<Record<string, unknown>>): string
  /** Inputs as data, for help and documents. */
  readonly examples: readonly z.input<Input>[]
  /** What of a list is asked for instead to see what follows it; null where nothing does. */
  nextPage?(answer: NoInfer<Answer>, asked: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null
}

/** One verb, as the table has it. */
export interface Operation<
  OfNoun extends Noun,
  Verb extends string,
  Input extends z.ZodObject,
  Takes extends readonly string[],
  Local extends z.ZodObject,
  Answer,
> extends Entry<OfNoun, Verb, Input, Takes, Local, Answer> {
  /** What every door calls, with whatever somebody gave it: bad input is refused whole. */
  call(context: OperationContext, input: unknown, local?: unknown): Promise<Answer>
}

export type AnyOperation = Operation<Noun, string, z.ZodObject, readonly string[], z.ZodObject, unknown>

/** A verb whose schemas say all there is to say about an input. */
interface Runs<Input extends z.ZodObject, Local extends z.ZodObject, Answer> {
  run(context: OperationContext, input: z.output<Input>, local: z.output<Local>): Promise<Answer>
}

/**
 * A verb that must look further: at rules between fields, at what the store knows. It is handed what could be read
 * together with what is wrong, and refuses it with what it finds besides: nobody should have to ask twice to hear of all.
 */
interface Judges<Input extends z.ZodObject, Local extends z.ZodObject, Answer> {
  judge(context: OperationContext, reading: Reading<z.output<Input>>, local: Partial<z.output<Local>>): Promise<Answer>
}

const noLocal = z.strictObject({})
export type NoLocal = typeof noLocal

/** Makes an entry of the table. */
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
    readonly show?: Show<NoInfer<Answer>>
  } & (Runs<Input, Local, NoInfer<Answer>> | Judges<Input, Local, NoInfer<Answer>>),
): Operation<OfNoun, Verb, Input, Takes, Local, Answer> {
  const { local = noLocal as unknown as Local } = entry
  return Object.freeze({
    ...(entry as Omit<typeof entry, 'show'> & { readonly show?: Show<unknown> }),
    local,
    async call(context: OperationContext, input: unknown, given: unknown = {}): Promise<Answer> {
      const schema = withAdded(entry.input, context.fields)
      refuseBeyondScope(context, { ...entry, input: schema }, input)
      const reading = read(schema, input, entry.request)
      const beside = read(local, given, `the options of ${entry.request}`)
      const problems: Problem[] = [...reading.problems, ...beside.problems]
      const noted = audited(context, entry, reading.given)
      if ('judge' in entry) return entry.judge(noted, { ...reading, problems }, beside.value)
      refuse(subjectOf(entry.request), problems)
      return entry.run(noted, reading.value as z.output<Input>, beside.value as z.output<Local>)
    },
  })
}

/**
 * Whoever changes something through a door to the outside is written down beside it, with what was asked for. A program that has the
 * store open in its own process is not: what it does is its own, and it does it a thousand times a second.
 */
function audited(
  context: OperationContext,
  { noun, verb, effect, about }: Pick<AnyOperation, 'noun' | 'verb' | 'effect' | 'about'>,
  given: Reading<unknown>['given'],
): OperationContext {
  const { actor, store } = context
  if (effect === 'read' || actor.door === 'library') return context
  const { name, id, queue } = given as Readonly<Record<string, unknown>>
  const named = name ?? id
  const subject =
    about !== undefined
      ? textIn(about(given as Readonly<Record<string, unknown>>))
      : named !== undefined
        ? `${noun} ${textIn(named)}`
        : noun === 'store'
          ? 'store'
          : `queue ${textIn(queue ?? 'default')}`
  const { reason } = given as { readonly reason?: unknown }
  const detail = typeof reason === 'string' ? { detail: { reason: reason.slice(0, 500) } } : {}
  return { ...context, store: store.audited({ actor, verb: `${noun}.${verb}`, subject, ...detail }) }
}

/** As it can be kept, whatever it is: it has not been judged yet. */
function textIn(value: unknown): string {
  return String(typeof value === 'string' ? value : typeof value)
    .slice(0, 300)
    .replaceAll('\0', '')
    .toWellFormed()
}

/** The words by which the command line knows a verb: `clearHints` of a schedule is `schedule clear-hints`. */
export function commandOf({ noun, verb, command }: Pick<AnyOperation, 'noun' | 'verb' | 'command'>): readonly string[] {
  return command ?? [noun, verbWords(verb)]
}

/** `clear-hints` of `clearHints`, where names are written in small letters. */
export function verbWords(verb: string): string {
  return verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The request as the subject of a sentence: "The pause is refused". */
export function subjectOf(request: string): string {
  return request.replace(/^an? /, 'The ')
}
