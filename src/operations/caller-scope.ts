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

/** The scope that an input needs. The input is not validated yet. */
export function scopeOf(
  { scope, adminForCommands, input: schema }: CalledOperation,
  input: unknown,
  kinds: readonly TargetKind[],
): Scope {
  // A caller that chooses where a secret is sent can read it, even the signing key of webhooks.
  const isForAdmins = (target: unknown) => startsProgram(target, kinds) || secretsIn(target).length > 0
  return adminForCommands === true && targetsIn(schema, input).some(isForAdmins) ? 'admin' : scope
}

/** The scope that a caller lacks for a call. */
export interface BeyondScope {
  readonly has: Scope
  readonly needs: Scope
  /** What needs the scope: the verb itself, a target that starts a program or sends a secret, or these fields. */
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
  // A caller without a scope opened the store itself.
  if (has === undefined) return null
  const needs = scopeOf(operation, input, kinds)
  if (!reaches(has, needs)) return { has, needs, because: needs === operation.scope ? 'verb' : 'target' }
  const { adminFields = [] } = has === 'admin' || actor.door !== 'mcp' ? {} : operation
  const fields = adminFields.filter(
    (field) => (input as Readonly<Record<string, unknown>> | null)?.[field] !== undefined,
  )
  return fields.length === 0 ? null : { has, needs: 'admin', because: fields }
}

/** Refuses a call beyond its caller's scope. Every verb does so before it reads its input. */
export function refuseBeyondScope(context: OperationContext, operation: CalledOperation, input: unknown): void {
  const beyond = beyondScope(context, operation, input)
  if (beyond === null) return
  const hint =
    beyond.because === 'verb'
      ? undefined
      : 'Only admins may write what starts programs on the workers or sends secrets.'
  throw tooNarrow(context.actor.name, beyond, hint)
}

/** The refusal for a caller with a token. */
export function tooNarrow(
  name: string,
  { has, needs }: Pick<BeyondScope, 'has' | 'needs'>,
  hint = 'Use a token with that scope.',
): BelfryError {
  const message = `Token ${quoted(name)} has the scope ${has}, and this needs ${needs}.`
  return new BelfryError('not-allowed', message, { hint, details: { has, needs } })
}

/** Refuses to change the payload of a stored target that starts a program, unless the caller may start programs. The door has checked the targets in the input only. */
export function refuseStoredProgram(context: OperationContext, ...targets: readonly unknown[]): void {
  const { scope } = context
  if (isAdmin(scope) || !targets.some((target) => startsProgram(target, context.kinds))) return
  const message = `Its target starts a program, so only an admin may change it; ${limitedCaller(context)} has the scope ${scope}.`
  throw new BelfryError('not-allowed', message, {
    hint: 'Only admins may change what starts programs on the workers.',
    details: { has: scope, needs: 'admin' },
  })
}

/** Refuses another payload for a stored target that starts a program or sends a secret. A request without its own body sends the payload, so the payload uses a credential that an admin stored for another purpose. */
export function refuseOtherPayload(context: OperationContext, target: unknown): void {
  refuseStoredProgram(context, target)
  const { scope } = context
  const secrets = secretsIn(target)
  if (isAdmin(scope) || secrets.length === 0) return
  const message = `Its target sends the secret ${secrets[0]}, so only an admin may change its payload; ${limitedCaller(context)} has the scope ${scope}.`
  throw new BelfryError('not-allowed', message, {
    hint: `${limitedCaller(context) === 'this token' ? 'Use a token with the scope admin' : 'Ask a person to do it'}, or run it with its own payload.`,
    details: { has: scope, needs: 'admin' },
  })
}

/** The caller that a scope limits. A model on stdio has no token. */
export function limitedCaller({ actor }: OperationContext): 'this server' | 'this token' {
  return actor.door === 'mcp' ? 'this server' : 'this token'
}

/** A caller without a scope opened the store itself. */
function isAdmin(scope: Scope | undefined): scope is 'admin' | undefined {
  return scope === undefined || scope === 'admin'
}

interface TargetFields {
  readonly targets: readonly string[]
  /** Lists that contain targets, each with the schema of its items. */
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

/** The targets of runs and of notifications: the same workers execute both. */
export function targetsIn(schema: z.ZodObject, input: unknown): unknown[] {
  const given = (input ?? {}) as Readonly<Record<string, unknown>>
  const { targets, lists } = targetFieldsOf(schema)
  const listed = lists.flatMap(([field, item]) => {
    const items = given[field]
    return Array.isArray(items) ? items.flatMap((each) => targetsIn(item, each)) : []
  })
  return [...targets.map((field) => given[field]), ...listed]
}

/** Reads only what a target names, valid or not: an invalid target is refused later anyway. */
function startsProgram(target: unknown, kinds: readonly TargetKind[]): boolean {
  if (typeof target !== 'object' || target === null) return false
  return kinds.some(({ name, startsPrograms }) => startsPrograms === true && name in target)
}
