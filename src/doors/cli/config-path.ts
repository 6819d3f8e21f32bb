import { dirname, join, resolve } from 'node:path'
import type { Place } from './place.ts'
import type { World } from './world.ts'

const fileName = 'belfry.yaml'

/** The file that is named, or the one beside the folder of the store that was found, or here. */
export function configPath(named: string | undefined, place: Place, { folder }: Pick<World, 'folder'>): string {
  if (named !== undefined) return resolve(folder, named)
  return join(place.from === 'found' ? dirname(place.belfryFolder) : folder, fileName)
}
