import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { BelfryError } from '../../core/error.ts'
import { withAdded } from '../../operations/fields/added-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { read } from '../../operations/input/read-input.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import { refusalOf } from '../../operations/input/unreadable-input.ts'
import { subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { apply, type ConfigWritten } from './apply-operation.ts'
import { entriesIn, placed, placeIn, sectionsWith } from './config-document.ts'
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

/** A file is validated first and then checked for trust; a dry run starts nothing and needs no trust. A waiting person gets every problem. A worker checks only the outline before trust: the author of an untrusted file must not decide how long the worker is blocked. */
export type Trusting = { readonly trust: Trust; readonly judges: 'all' | 'outline' } | 'rehearsal'

/** The path of a file as it is shown, also on other machines. */
export function placeOfFile(path: string): string {
  return `${hostname()}:${path}`
}

/** Reads a file and applies it, all or nothing. */
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
  // Paths relative to the file mean the same wherever it is applied from.
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
    if (trusting.judges === 'outline') refuseOutline(context, { ...document, ...told })
    // Check first, so that a user who trusts the file knows that it can be applied.
    else await applied(context.store.rehearsal())
    refuseUntrusted(file, trusting.trust)
  }
  return applied(context.store)
}

const entriesLookedAtMax = 1_000

/** Relative paths are beside the file, on this machine: a missing one is refused before it is stored. */
function absentPrograms(document: Readonly<Record<string, unknown>>, context: OperationContext): Problem[] {
  return sectionsWith(context.sections).flatMap((section) => {
    const { absent } = section
    const entries = absent === undefined ? [] : entriesIn(section, document).slice(0, entriesLookedAtMax)
    return entries.flatMap(([entry, given]) => placed(placeIn(section, entry), absent?.(given, context) ?? []))
  })
}

/** Refuses a file with wrong sections, without reading their entries. */
function refuseOutline({ fields }: OperationContext, document: object): void {
  const { input, request } = apply
  refuse(subjectOf(request), read(withAdded(input, fields), document, request).problems)
}

/** A missing or empty file names no source and is most often a mistake of a deployment or an editor. It would delete everything, so that needs a confirmation. */
async function documentOfNothing(context: OperationContext, { path, isThere }: ConfigFile, yes: boolean) {
  const { sources } = await list.call(context, {})
  const [first, second] = sources.filter(({ file }) => file === placeOfFile(path))
  const what = isThere ? `${path} is empty` : `There is no file ${path}`
  const about = (rest: string) => ({ file: path, problem: `${isThere ? 'is empty' : 'does not exist'}${rest}` })
  if (first === undefined) {
    throw new BelfryError(isThere ? 'invalid' : 'not-found', `${what}, and it was never applied.`, {
      hint: 'Write one: a source, and queues, schedules or tokens. See docs/config.md.',
      details: about(', and it was never applied'),
    })
  }
  if (yes && second === undefined) return { source: first.source }
  throw new BelfryError('conflict', `${what}; everything that source ${first.source} created is unchanged.`, {
    hint: 'To delete all of it: `belfry apply --yes`',
    details: { ...about(`; everything that source ${first.source} created is unchanged`), source: first.source },
  })
}
