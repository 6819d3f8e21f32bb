import type { z } from 'zod'
import { BelfryError } from '../core/error.ts'
import { secretsIn } from '../core/secret-name.ts'
import type { TargetKind } from '../targets/kind.ts'
import { quoted } from './input/refuse-input.ts'
import type { AnyOperation } from './operation.ts'
import type { OperationContext } from './operation-context.ts'
import { innerSchema } from './schema/inner-schema.ts'
import { noteOf } from './schema/schema-note.ts'

/** What a caller may do. Each scope includes those before it. */
export const scopes = ['read', 'operate', 'admin'] as const
export type Scope = (typeof scopes)[number]

export function reaches(has: Scope, needs: Scope): boolean {
  return scopes.indexOf(has) >= scopes.indexOf(needs)
}

type CalledOperation = Pick<AnyOperation, 'scope' | 'adminForCommands' | 'adminFields' | 'input'>

/** What the caller that gives this input must be allowed. It looks at the input as it is given, before anything has judged it. */
export function scopeOf(
  { scope, adminForCommands, input: schema }: CalledOperation,
  input: unknown,
  kinds: readonly TargetKind[],
): Scope {
  // A caller that says where a secret is sent gets to know it, be it the key that webhooks are signed with.
  const isForAdmins = (target: unknown) => startsProgram(target, kinds) || secretsIn(target).length > 0
  return adminForCommands === true && targetsIn(schema, input).some(isForAdmins) ? 'admin' : scope
}

/** What a call needs that its caller may not do. */
export interface BeyondScope {
  readonly has: Scope
  readonly needs: Scope
  /** What of the call needs it: the verb itself, a target that starts a program or sends a secret, or these fields. */
  readonly because: 'verb' | 'target' | readonly string[]
}

type Caller = Pick<OperationContext, 'kinds'> & {
  readonly scope?: Scope
  readonly actor: Pick<OperationContext['actor'], 'door'>
}

/** Decides for every door whether a caller may make a call; `null` where it may. */
export function beyondScope(
  { scope: has, kinds, actor }: Caller,
  operation: CalledOperation,
  input: unknown,
): BeyondScope | null {
  // A caller without a scope has the store itself.
  if (has === undefined) return null
  const needs = scopeOf(operation, input, kinds)
  if (!reaches(has, needs)) return { has, needs, because: needs === operation.scope ? 'verb' : 'target' }
  const { adminFields = [] } = has === 'admin' || actor.door !== 'mcp' ? {} : operation
  const fields = adminFields.filter(
    (field) => (input as Readonly<Record<string, unknown>> | null)?.[field] !== undefined,
  )
  return fields.length === 0 ? null : { has, needs: 'admin', because: fields }
}

/** Refuses a call that the scope of its caller does not reach. Every verb does so before it reads its input. */
export function refuseBeyondScope(context: OperationContext, operation: CalledOperation, input: unknown): void {
  const beyond = beyondScope(context, operation, input)
  if (beyond === null) return
  const hint =
    beyond.because === 'verb'
      ? undefined
      : 'What starts programs on the workers, or sends secrets, is for those who may do anything.'
  throw tooNarrow(context.actor.name, beyond, hint)
}

/** What a caller with a token is told. */
export function tooNarrow(
  name: string,
  { has, needs }: Pick<BeyondScope, 'has' | 'needs'>,
  hint = 'Use a token with that scope.',
): BelfryError {
  const message = `Token ${quoted(name)} may ${has}, and this needs ${needs}.`
  return new BelfryError('not-allowed', message, { hint, details: { has, needs } })
}

/**
 * Refuses a change of what a program is handed to a caller that may not start programs. The door has looked at the targets in the
 * input; this looks at those that are stored.
 */
export function refuseStoredProgram(context: OperationContext, ...targets: readonly unknown[]): void {
  const { scope } = context
  if (isAdmin(scope) || !targets.some((target) => startsProgram(target, context.kinds))) return
  const message = `It starts a program, which is for admins to change, and ${limitedCaller(context)} may ${scope}.`
  throw new BelfryError('not-allowed', message, {
    hint: 'What starts programs on the workers is for those who may do anything.',
    details: { has: scope, needs: 'admin' },
  })
}

/**
 * Refuses another payload for a stored target that starts a program or sends a secret. A request without a body of its own sends the
 * payload, so a caller that chooses the payload acts with a credential that an admin stored for another purpose.
 */
export function refuseOtherPayload(context: OperationContext, target: unknown): void {
  refuseStoredProgram(context, target)
  const { scope } = context
  const secrets = secretsIn(target)
  if (isAdmin(scope) || secrets.length === 0) return
  const message = `Its target sends the secret ${secrets[0]}, so only an admin may change its payload; ${limitedCaller(context)} may ${scope}.`
  throw new BelfryError('not-allowed', message, {
    hint: `${limitedCaller(context) === 'this token' ? 'Use a token with the scope admin' : 'Ask a person to do it'}, or run it with its own payload.`,
    details: { has: scope, needs: 'admin' },
  })
}

/** Who it is that a scope limits. A model may be served at pipes, where there is no token. */
export function limitedCaller({ actor }: OperationContext): 'this server' | 'this token' {
  return actor.door === 'mcp' ? 'this server' : 'this token'
}

/** A caller without a scope has the store itself. */
function isAdmin(scope: Scope | undefined): scope is 'admin' | undefined {
  return scope === undefined || scope === 'admin'
}

interface TargetFields {
  readonly targets: readonly string[]
  /** Lists of what has targets, each with the schema of its items. */
  readonly lists: readonly (readonly [field: string, schema: z.ZodObject])[]
}

const targetFields = new WeakMap<z.ZodObject, TargetFields>()

function targetFieldsOf(schema: z.ZodObject): TargetFields {
  const known = targetFields.get(schema)
  if (known !== undefined) return known
  const inner = Object.entries(schema.shape).map(([field, each]) => [field, innerSchema(each as z.ZodType)] as const)
  const found = {
    targets: inner.flatMap(([field, each]) => (each !== undefined && noteOf(each).isTarget === true ? [field] : [])),
    lists: inner.flatMap(([field, each]) => {
      const item = innerSchema((each?.def as { readonly element?: z.ZodType } | undefined)?.element)
      return item?.def.type === 'object' ? [[field, item as z.ZodObject] as const] : []
    }),
  }
  targetFields.set(schema, found)
  return found
}

/** The targets of an input, those in fields of parts too: all of them are executed by the same workers. */
function targetsIn(schema: z.ZodObject, input: unknown): unknown[] {
  const given = (input ?? {}) as Readonly<Record<string, unknown>>
  const { targets, lists } = targetFieldsOf(schema)
  const listed = lists.flatMap(([field, item]) => {
    const items = given[field]
    return Array.isArray(items) ? items.flatMap((each) => targetsIn(item, each)) : []
  })
  return [...targets.map((field) => given[field]), ...listed]
}

/** By what a target names, be it sound or not: what is refused later is refused all the same. */
function startsProgram(target: unknown, kinds: readonly TargetKind[]): boolean {
  if (typeof target !== 'object' || target === null) return false
  return kinds.some(({ name, startsPrograms }) => startsPrograms === true && name in target)
}
