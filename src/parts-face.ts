import type { CliPart, LocalCommand } from './doors/cli/part.ts'
import type { AddRoutes } from './doors/http/part.ts'
import type { EventLines } from './engine/events.ts'
import type { Begun, Behind } from './library/part.ts'
import type { Part, Together } from './part.ts'
import { parts } from './parts.ts'

const each: readonly Part[] = parts

/** How events of the parts are logged. A part that declares an event brings its line. */
export const partLines = Object.assign({}, ...each.map((part) => part.events ?? {})) as EventLines

type MethodsOf<Parts extends readonly Part[]> = Together<
  Parts[number] extends infer Each ? (Each extends { readonly methods: infer Methods } ? Methods : never) : never
>
type Methods = MethodsOf<typeof parts>

/** The methods that parts add to the library. */
export type PartMethods = {
  readonly [Name in keyof Methods]: Methods[Name] extends (behind: never, ...given: infer Given) => unknown
    ? (...given: Given) => Promise<void>
    : never
}

export function bindMethods(begun: (begin: (behind: Behind) => Promise<Begun>) => Promise<void>): PartMethods {
  const methods = each.flatMap((part) => Object.entries(part.methods ?? {}))
  return Object.fromEntries(
    methods.map(([name, method]) => [name, (...given: unknown[]) => begun((behind) => method(behind, ...given))]),
  ) as PartMethods
}

/** What all parts add to the doors. */
export const partPaths: Readonly<Record<string, Readonly<Record<string, object>>>> = Object.assign(
  {},
  ...each.map((part) => part.paths ?? {}),
)
/** The queues that parts use for their own runs. */
export const partQueues: readonly string[] = each.flatMap((part) => Object.keys(part.queues ?? {}))
export const partCommands: readonly LocalCommand[] = each.flatMap((part) => part.commands ?? [])
export const partUps: readonly NonNullable<CliPart['up']>[] = each.flatMap((part) => part.up ?? [])
export const partModels: readonly NonNullable<CliPart['mcp']>[] = each.flatMap((part) => part.mcp ?? [])
export const partTrusts: readonly NonNullable<CliPart['trusts']>[] = each.flatMap((part) => part.trusts ?? [])
export const partServers: readonly NonNullable<CliPart['serves']>[] = each.flatMap((part) => part.serves ?? [])
export const signedPaths: readonly string[] = each.flatMap((part) => part.signedPaths ?? [])

/** How parts find the callers of tokens that they have issued. */
export const partTokens: readonly NonNullable<Part['knowsToken']>[] = each.flatMap((part) => part.knowsToken ?? [])

export async function loadRoutes(): Promise<readonly AddRoutes[]> {
  return Promise.all(each.flatMap((part) => part.routes?.() ?? []))
}
