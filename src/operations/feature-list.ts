import { nearest } from './input/nearest-name.ts'
import { isShown, type Problem } from './input/refuse-input.ts'

/** Something that a process can leave out. */
interface FeatureEntry {
  /** The parts of the feature, where it is not a single part of the same name. */
  readonly rooms?: readonly string[]
  /** Its nouns, as the library has them. */
  readonly nouns?: readonly string[]
  /**
   * Other words of its commands, routes, tools and flags. All of these words let Belfry recognise a request for the feature while
   * it is left out.
   */
  readonly words?: readonly string[]
  /** The numbers of its migrations: a store that has them is not newer than a process without them. */
  readonly versions?: readonly number[]
}

const known = {
  agents: {
    rooms: ['agents', 'workspaces', 'terminals', 'tasks', 'inbox', 'coming-over', 'children'],
    nouns: ['agents', 'workspaces', 'tasks', 'missed', 'inbox'],
    words: [
      'agent',
      'workspace',
      'screen',
      'attach',
      'task',
      'hook',
      'install',
      'uninstall',
      'claude',
      'import-claude',
      'cron',
      'loop',
      'wakeup',
    ],
    versions: [25, 30, 28, 35, 33, 34],
  },
  hosts: { nouns: ['sched'], words: ['drain'] },
  config: { nouns: ['config'], words: ['apply'] },
  routines: { nouns: ['routines'], words: ['routine', 'hooks'], versions: [8, 15] },
  imports: { words: ['import'] },
  backfill: { words: ['backfill'] },
  corpus: { nouns: ['corpora'], words: ['corpus', 'meta'], versions: [42, 47, 49, 52, 53, 63] },
  command: { words: ['command'] },
  http: { words: ['http'] },
  planner: {
    nouns: ['planner', 'analyses', 'proposals'],
    words: ['analysis', 'proposal'],
    versions: [40, 41],
  },
} satisfies Readonly<Record<string, FeatureEntry>>

export type Feature = keyof typeof known

/** The parts and kinds of targets that a process can leave out. A test compares them with what the parts bring. */
export const features: Readonly<Record<Feature, FeatureEntry>> = known

/** The features that cannot be left out, and why. */
const kept: Readonly<Record<string, string>> = {
  holds: 'it keeps work from starting',
  admission: 'it keeps work from starting',
  groups: 'the bounds of a group hold for its schedules in every process',
  notices: 'a worker without it would send notifications as plain runs',
  handler: 'programs register handlers themselves',
}

/** Reads `-agents,-command`, or the same as a list. */
export function featuresIn(given: unknown, field: string): { leftOut: readonly Feature[]; problems: Problem[] } {
  const entries = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [given]
  const words = entries.map((entry) => (typeof entry === 'string' ? entry.trim() : entry)).filter((word) => word !== '')
  const problems = words.flatMap((word) => problemOf(word, field))
  return { leftOut: words.map((word) => String(word).slice(1) as Feature).filter(isFeature), problems }
}

function isFeature(name: string): name is Feature {
  return Object.hasOwn(features, name)
}

function problemOf(word: unknown, field: string): Problem[] {
  const name = typeof word === 'string' ? word.replace(/^-/, '') : ''
  const names = Object.keys(features)
  if (typeof word === 'string' && word.startsWith('-')) {
    if (isFeature(name)) return []
    if (Object.hasOwn(kept, name)) {
      return [
        { field, problem: `leaves out ${name}, which stays: ${kept[name]}`, expected: `${field} without -${name}` },
      ]
    }
  }
  const near = isFeature(name) ? name : nearest(name, names)
  const all = names.map((each) => `-${each}`).join(', ')
  const expected =
    near === undefined
      ? `some of ${all}`
      : `-${near}, which leaves the feature out; a feature that is not named stays on`
  return [{ field, problem: isShown(word), expected }]
}
