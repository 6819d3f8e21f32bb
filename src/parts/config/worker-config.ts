import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { Flags, WorkerDefaults, WorkerPart, WorkerPartContext } from '../../doors/cli/part.ts'
import type { StoreLocation } from '../../doors/cli/session/store-location.ts'
import type { World } from '../../doors/cli/world.ts'
import { refusal } from '../../operations/input/refuse-input.ts'
import { documentShape } from './config-document.ts'
import { readConfigFile } from './config-file.ts'
import { refuseUntrusted, Trust } from './trusted-files.ts'

const fileName = 'belfry.yaml'

/** The named file, or the default one beside the store's folder, or in the current folder. */
export function configPath(named: string | undefined, place: StoreLocation, { folder }: Pick<World, 'folder'>): string {
  if (named !== undefined) return resolve(folder, named)
  return join(place.from === 'found' ? dirname(place.belfryFolder) : folder, fileName)
}

/** Lets a worker apply the file, and again whenever it changes; the file's HTTP settings apply where no flag is given. */
export async function workerConfig(
  { config }: Flags,
  { place, world, ...known }: WorkerPartContext,
): Promise<WorkerPart> {
  const { BELFRY_CONFIG: variable = '' } = world.env
  const named = (config as string | undefined) ?? (variable === '' ? undefined : variable)
  if (named === 'none') return {}
  const path = configPath(named, place, world)
  const isFound = named === undefined
  // A named file must exist; the default one may appear later.
  if (!isFound && !existsSync(path)) {
    const field = config === undefined ? 'BELFRY_CONFIG' : '--config'
    const problem = `is ${path}, which does not exist`
    throw refusal('The worker', [{ field, problem, expected: 'a YAML file, or none' }])
  }
  return {
    said: await serverSaid(path, new Trust(world.env, { ...known, found: isFound ? path : null })),
    begin: async (worker) => void (await worker.method('watch', path, { isFound })),
  }
}

/**
 * The HTTP settings of the file. A faulty file counts as a file without such settings: applying it reports the fault, and
 * the worker still runs.
 */
async function serverSaid(path: string, trust: Trust): Promise<WorkerDefaults> {
  try {
    const file = await readConfigFile(path)
    refuseUntrusted(file, trust)
    const { server } = z.object({ server: documentShape.server }).parse(file.document ?? {})
    return {
      ...(server?.listen !== undefined && { listenFromConfig: server.listen }),
      ...(server?.behindProxy === true && { behindProxy: true }),
      ...(server?.hosts !== undefined && { hosts: server.hosts.join(',') }),
    }
  } catch {
    // Applying the file reports the fault.
    return {}
  }
}
