import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { BelfryError } from '../core/error.ts'
import type { ConfigWritten } from '../operations/config/apply.ts'
import { configOperations } from '../operations/config/config.ts'
import type { OperationContext } from '../operations/context.ts'
import { onlyGiven } from '../operations/only-given.ts'
import { type ConfigFile, readConfigFile } from './file.ts'
import { refuseUntrusted, type Trust } from './trust.ts'

export interface FileRequest {
  readonly path: string
  readonly yes?: boolean
  readonly adopt?: boolean
  /** Whether content that its source has, or had before, is left alone. */
  readonly onlyNew?: boolean
}

/** Names a file for people and for whoever looks from another machine. */
export function placeOfFile(path: string): string {
  return `${hostname()}:${path}`
}

/** Reads a file and applies it, all of it or nothing. */
export async function applyFile(context: OperationContext, request: FileRequest, trust: Trust): Promise<ConfigWritten> {
  return applyRead(context, await readConfigFile(request.path), request, trust)
}

export async function applyRead(
  context: OperationContext,
  file: ConfigFile,
  { yes, adopt, onlyNew }: FileRequest,
  trust: Trust,
): Promise<ConfigWritten> {
  refuseUntrusted(file, trust)
  const document = file.document ?? (await documentOfNothing(context, file, yes === true))
  // What a file names relative to itself means the same wherever it is applied from.
  const own = { ...context, folder: dirname(file.path) }
  const told = onlyGiven({ file: placeOfFile(file.path), yes, adopt, onlyNew })
  return configOperations.apply.call(own, { ...document, ...told })
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
    hint: 'If all of it is to be deleted: belfry apply --yes',
    details: { file: path, source: first.source },
  })
}
