import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { BelfryError } from '../../core/error.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { read } from '../../operations/input/read-input.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import { refusalOf } from '../../operations/input/unreadable-input.ts'
import { subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { apply, type ConfigWritten } from './apply-operation.ts'
import { placed, sectionsWith } from './config-document.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { list } from './list-configs.ts'
import { isTrusted, refuseUntrusted, type Trust } from './trusted-files.ts'

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
    const call = (input: object) => apply.call({ ...context, store, folder }, input)
    const problems = absentPrograms(document, { ...context, folder })
    if (problems.length === 0) return call({ ...document, ...told })
    const { request } = apply
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

/** What a file names relative to itself lies beside it, on this machine: what is not there is refused before it is stored. */
function absentPrograms(document: Readonly<Record<string, unknown>>, context: OperationContext): Problem[] {
  return sectionsWith(context.sections).flatMap(({ name, absent }) => {
    const entries = absent === undefined ? [] : Object.entries(document[name] ?? {}).slice(0, entriesLookedAtMax)
    return entries.flatMap(([entry, given]) => placed(`${name}.${entry}`, absent?.(given, context) ?? []))
  })
}

/** Refuses a file whose sections are wrong, without a look at what lies inside of them. */
function refuseOutline(document: object): void {
  const { input, request } = apply
  refuse(subjectOf(request), read(input, document, request).problems)
}

/**
 * A file that is gone or empty names no source. Most often it is a mistake: of a deployment, of an editor. It is done as it
 * says, which is to delete everything, only when somebody says that this is meant.
 */
async function documentOfNothing(context: OperationContext, { path, isThere }: ConfigFile, yes: boolean) {
  const { sources } = await list.call(context, {})
  const [first, second] = sources.filter(({ file }) => file === placeOfFile(path))
  const what = isThere ? `${path} is empty` : `There is no file ${path}`
  const about = (rest: string) => ({ file: path, problem: `${isThere ? 'is empty' : 'is not there'}${rest}` })
  if (first === undefined) {
    throw new BelfryError(isThere ? 'invalid' : 'not-found', `${what}, and nothing was ever applied from it.`, {
      hint: 'Write one: a source, and queues, schedules or tokens beneath it. See docs/config.md.',
      details: about(', and nothing was ever applied from it'),
    })
  }
  if (yes && second === undefined) return { source: first.source }
  throw new BelfryError('conflict', `${what}; what source ${first.source} made from it stays as it is.`, {
    hint: 'If all of it is to be deleted: `belfry apply --yes`',
    details: { ...about(`; what source ${first.source} made from it stays as it is`), source: first.source },
  })
}
