import type { z } from 'zod'
import { isRecord } from '../core/json/record.ts'
import { NameSearch } from './input/nearest-name.ts'
import { isShown, refusal, refuse } from './input/refuse-input.ts'
import { type AnyOperation, subjectOf } from './operation.ts'
import type { OperationContext } from './operation-context.ts'

type Input<Op extends AnyOperation> = z.input<Op['input']>
type Answer<Op extends AnyOperation> = Promise<z.output<Op['output']>>
/** The local options of a verb, if it has any. */
type Local<Op extends AnyOperation> = keyof Op['local']['shape'] extends never ? unknown : z.input<Op['local']>
type Placed<Fields, Takes extends readonly string[]> = {
  readonly [Index in keyof Takes]: Takes[Index] extends keyof Fields ? Fields[Takes[Index]] : never
}
type Options<Op extends AnyOperation> = Omit<Input<Op>, Op['takes'][number]> & Local<Op>

/** An object type without required fields. */
type Nothing = Record<never, never>

/** Optional when every field is optional; absent when there are no fields. */
type Last<Fields> = keyof Fields extends never ? [] : Nothing extends Fields ? [options?: Fields] : [options: Fields]

/** The whole input in one object, as at every other door. */
type WholeCall<Op extends AnyOperation> =
  Nothing extends Input<Op>
    ? (input?: Input<Op>, ...local: Last<Local<Op>>) => Answer<Op>
    : (input: Input<Op>, ...local: Last<Local<Op>>) => Answer<Op>

/** The subject first, the rest in an object. */
type PlacedCall<Op extends AnyOperation> = (
  ...args: [...Placed<Input<Op>, Op['takes']>, ...Last<Options<Op>>]
) => Answer<Op>

/** For a verb with several arguments: the subject first, the other arguments in the object. */
type SubjectCall<Op extends AnyOperation> = Op['takes'] extends readonly [
  infer Subject extends string & keyof Input<Op>,
  string,
  ...string[],
]
  ? (subject: Input<Op>[Subject], options: Omit<Input<Op>, Subject> & Local<Op>) => Answer<Op>
  : unknown

/** A verb as a function: `pause('nightly', { for: '1h' })`, or `pause({ name: 'nightly', for: '1h' })`. */
export type Bound<Op extends AnyOperation> = Op['takes'] extends readonly []
  ? WholeCall<Op>
  : PlacedCall<Op> & SubjectCall<Op> & WholeCall<Op>

/** The verbs of a noun, bound to a context. */
export type Verbs<Operations extends Readonly<Record<string, AnyOperation>>> = {
  readonly [Verb in keyof Operations]: Bound<Operations[Verb]>
}

/** Binds the verbs of a noun to a context, which is read at each call because it may be closed by then. */
export function bind<Operations extends Readonly<Record<string, AnyOperation>>>(
  operations: Operations,
  context: () => OperationContext,
): Verbs<Operations> {
  const bound = Object.entries(operations).map(([verb, operation]) => {
    // Every failure rejects the promise, also one before the first await.
    return [verb, async (...args: unknown[]) => operation.call(context(), ...asked(operation, args))]
  })
  return Object.freeze(Object.fromEntries(bound)) as Verbs<Operations>
}

/** Splits the arguments of a call into the input and the local options. */
function asked(operation: AnyOperation, args: readonly unknown[]): [input: unknown, local: unknown] {
  const [first, second] = args
  if (operation.takes.length > 0 && !isRecord(first)) return placed(operation, args)
  refuseSurplus(operation, args, Object.keys(operation.local.shape).length === 0 ? 1 : 2)
  return [first === undefined ? {} : first, second]
}

function placed(operation: AnyOperation, args: readonly unknown[]): [input: unknown, local: unknown] {
  const { request } = operation
  // What follows the subject may stand in the object: `item('faq', { path })`.
  const takes = isRecord(args[1]) ? operation.takes.slice(0, 1) : operation.takes
  refuseSurplus(operation, args, takes.length + 1)
  const options = args[takes.length] ?? {}
  if (!isRecord(options)) {
    throw refusal(subjectOf(request), [{ field: 'options', problem: isShown(options), expected: 'an object' }])
  }
  const twice = takes.filter((field) => Object.hasOwn(options, field))
  const problems = twice.map((field) => ({ field, problem: 'is given twice', expected: 'it only as an argument' }))
  refuse(subjectOf(request), problems)
  const leading = takes.map((field, index) => [field, args[index]])
  const search = new NameSearch()
  const besides: [string, unknown][] = []
  const rest: [string, unknown][] = []
  for (const [field, value] of Object.entries(options)) {
    const place = isLocal(operation, field, search) ? besides : rest
    place.push([field, value])
  }
  return [Object.fromEntries([...leading, ...rest]), Object.fromEntries(besides)]
}

/**
 * Whether an option belongs beside the input. A misspelt option goes where the correct name belongs, so that the refusal can suggest
 * the correct name.
 */
function isLocal({ input, local }: AnyOperation, field: string, search: NameSearch): boolean {
  if (Object.hasOwn(input.shape, field)) return false
  if (Object.hasOwn(local.shape, field)) return true
  const meant = search.nearest(field, [...Object.keys(input.shape), ...Object.keys(local.shape)])
  return meant !== undefined && Object.hasOwn(local.shape, meant)
}

/** Ignoring surplus arguments would lose them silently. */
function refuseSurplus({ request }: AnyOperation, args: readonly unknown[], most: number): void {
  if (args.length <= most) return
  const problem = { field: 'arguments', problem: `are ${args.length}`, expected: `at most ${most}` }
  throw refusal(subjectOf(request), [problem])
}
