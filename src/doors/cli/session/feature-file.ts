import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { foundUpwards, type Surroundings } from './store-location.ts'

const sizeMax = 1_048_576

/** The features that the variable chooses, or else the config file that a worker here would apply. */
export async function featuresSaid(
  argv: readonly string[],
  { env, folder }: Surroundings,
): Promise<{ readonly features: unknown; readonly from: string }> {
  const { BELFRY_FEATURES: variable, BELFRY_CONFIG: named = '' } = env
  const from = 'BELFRY_FEATURES'
  if (variable !== undefined && variable !== '') return { features: variable, from }
  const path = fileOf(flagIn(argv) ?? named, folder)
  const text = path === null ? null : textOf(path)
  // Nearly no file has the field, and the reader of YAML takes long to load.
  if (text === null || !/^features[ \t]*:/m.test(text)) return { features: '', from }
  const { parse } = await import('yaml')
  try {
    const { features = '' } = parse(text) as { readonly features?: unknown }
    return { features, from: `features of ${path}` }
  } catch {
    // Applying the file reports what is wrong with it.
    return { features: '', from }
  }
}

function flagIn(argv: readonly string[]): string | undefined {
  const cut = argv.indexOf('--')
  const words = cut < 0 ? argv : argv.slice(0, cut)
  const alone = words.indexOf('--config')
  return alone >= 0 ? words[alone + 1] : words.find((word) => word.startsWith('--config='))?.slice('--config='.length)
}

function fileOf(named: string, folder: string): string | null {
  if (named === 'none') return null
  if (named !== '') return resolve(folder, named)
  const found = foundUpwards(folder)
  return join(found === null ? folder : dirname(found), 'belfry.yaml')
}

function textOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size <= sizeMax ? readFileSync(path, 'utf8') : null
}
