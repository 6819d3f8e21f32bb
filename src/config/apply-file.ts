import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { BelfryError } from '../core/error.ts'
import type { ConfigWritten } from '../operations/config/apply.ts'
import { configOperations } from '../operations/config/config.ts'
import type { OperationContext } from '../operations/context.ts'
import { read } from '../operations/input.ts'
import { onlyGiven } from '../operations/only-given.ts'
import { subjectOf } from '../operations/operation.ts'
import { type Problem, refuse } from '../operations/problem.ts'
import { refusalOf } from '../operations/unread.ts'
import { type ConfigFile, readConfigFile } from './file.ts'
import { targetPathProblems } from './paths-here.ts'
import { isTrusted, refuseUntrusted, type Trust } from './trust.ts'

export interface FileRequest {
  readonly path: string
  readonly yes?: boolean
  readonly adopt?: boolean
  /** Whether content that its source has, or had before, is left alone. */
  readonly onlyNew?: boolean
}

/**
 * A file is judged for what it says first, and then for whether it is trusted; a rehearsal starts nothing and needs no trust.
 * A person who waits hears of everything that is wrong. A worker looks only at the outline before trust: its other work waits
 * meanwhile, and the author of an untrusted file decides how long the rest takes.
 */
export type Trusting = { readonly trust: Trust; readonly judges: 'all' | 'outline' } | 'rehearsal'

/** Names a file for people and for whoever looks from another machine. */
export function placeOfFile(path: string): string {
  return `${hostname()}:${path}`
}

/** Reads a file and applies it, all of it or nothing. */
export async function applyFile(context: OperationContext, request: FileRequest, trust: Trust): Promise<ConfigWritten> {
  return applyRead(context, await readConfigFile(request.path), request, { trust, judges: 'all' })
}

export async function applyRead(
  context: OperationContext,
  file: ConfigFile,
  { yes, adopt, onlyNew }: FileRequest,
  trusting: Trusting,
): Promise<ConfigWritten> {
  const document = file.document ?? (await documentOfNothing(context, file, yes === true))
  const told = onlyGiven({ file: placeOfFile(file.path), yes, adopt, onlyNew })
  // What a file names relative to itself means the same wherever it is applied from.
  const folder = dirname(file.path)
  const applied = async (store: OperationContext['store']) => {
    const call = (input: object) => configOperations.apply.call({ ...context, store, folder }, input)
    const problems = absentPrograms(document, folder)
    if (problems.length === 0) return call({ ...document, ...told })
    const { request } = configOperations.apply
    throw await refusalOf(
      { input: { ...document, ...told }, problems },
      { call, about: [], subject: subjectOf(request) },
    )
  }
  if (trusting !== 'rehearsal' && !isTrusted(file, trusting.trust)) {
    if (trusting.judges === 'outline') refuseOutline({ ...document, ...told })
    // A user who trusts the file is to know that it can be applied.
    else await applied(context.store.rehearsal())
    refuseUntrusted(file, trusting.trust)
  }
  return applied(context.store)
}

const entriesLookedAtMax = 1_000

/** What a file names relative to itself lies beside it, on this machine: what is not there is told before it is stored. */
function absentPrograms({ schedules }: Readonly<Record<string, unknown>>, folder: string): Problem[] {
  const entries = Object.entries((schedules ?? {}) as Readonly<Record<string, unknown>>)
  return entries.slice(0, entriesLookedAtMax).flatMap(([name, given]) => {
    const { target } = (given ?? {}) as { readonly target?: unknown }
    return targetPathProblems(target, `schedules.${name}.target`, folder)
  })
}

/** Refuses a file whose sections are wrong, without a look at what lies inside of them. */
function refuseOutline(document: object): void {
  const { input, request } = configOperations.apply
  refuse(subjectOf(request), read(input, document, request).problems)
}

/**
 * A file that is gone or empty names no source. Most often it is a mistake: of a deployment, of an editor. It is done as it
 * says, which is to delete everything, only when somebody says that this is meant.
 */
async function documentOfNothing(context: OperationContext, { path, isThere }: ConfigFile, yes: boolean) {
  const { sources } = await configOperations.list.call(context, {})
  const [first, second] = sources.filter(({ file }) => file === placeOfFile(path))
  const what = isThere ? `${path} is empty` : `There is no file ${path}`
  if (first === undefined) {
    throw new BelfryError(isThere ? 'invalid' : 'not-found', `${what}, and nothing was ever applied from it.`, {
      hint: 'Write one: a source, and queues, schedules or tokens beneath it. See docs/config.md.',
      details: { file: path },
    })
  }
  if (yes && second === undefined) return { source: first.source }
  throw new BelfryError('conflict', `${what}; what source ${first.source} made from it stays as it is.`, {
    hint: 'If all of it is to be deleted: `belfry apply --yes`',
    details: { file: path, source: first.source },
  })
}
