/** What this process leaves out: parts, whose code is then never loaded, and kinds of targets. */
import { BelfryError } from './core/error.ts'
import { type Feature, features, featuresIn } from './operations/feature-list.ts'
import { refuse } from './operations/input/refuse-input.ts'
import type { Part } from './part.ts'

const variable = 'BELFRY_FEATURES'
let chosen: { readonly leftOut: readonly Feature[]; readonly from: string } | undefined

/** Must be called before anything that may be left out is loaded. */
export function chooseFeatures(given: unknown, from = variable): void {
  const { leftOut, problems } = featuresIn(given, from)
  refuse('The list of features', problems)
  chosen = { leftOut, from }
}

function inForce(): NonNullable<typeof chosen> {
  if (chosen === undefined) chooseFeatures(process.env[variable] ?? '')
  return chosen as NonNullable<typeof chosen>
}

export function isLeftOut(feature: string): feature is Feature {
  return inForce().leftOut.includes(feature as Feature)
}

/**
 * The part or its rooms. Where the part is left out: the numbers of its migrations, so that the store knows them, and its verbs, so that
 * the table refuses them.
 */
export async function unlessLeftOut<Whole extends Part | readonly Part[]>(
  name: Feature,
  load: () => Promise<Whole>,
): Promise<Whole> {
  if (!isLeftOut(name)) return load()
  const { versions = [] } = features[name]
  return { name, versions } satisfies Part as unknown as Whole
}

/** Why a feature is not available, as a clause. */
export function leftOutBy(feature: Feature): string {
  return `is left out of this process by -${feature} in ${inForce().from}`
}

/** The refusal of an unknown name that belongs to a feature that is left out: `routine list`, `importCrontab`. */
export function refusalOfLeftOut(asked: string): BelfryError | null {
  const { leftOut, from } = inForce()
  if (leftOut.length === 0) return null
  const words = asked
    .replace(/[A-Z]/g, ' $&')
    .toLowerCase()
    .split(/[^a-z]+/)
  const feature = leftOut.find((each) => wordsOf(each).some((word) => words.includes(word)))
  if (feature === undefined) return null
  return new BelfryError('not-allowed', `The feature ${feature} ${leftOutBy(feature)}.`, {
    hint: `Start this process without -${feature} in ${from}.`,
    details: { feature },
  })
}

/** Verbs that are left out, for the library: each call is refused. */
export function refusingVerbs<Verbs extends object>(noun: string, verbs: Verbs): Verbs {
  if (inForce().leftOut.length === 0) return verbs
  return new Proxy(verbs, {
    get(known, verb) {
      if (verb in known || typeof verb !== 'string') return Reflect.get(known, verb)
      const refused = refusalOfLeftOut(`${noun} ${verb}`)
      return refused === null ? undefined : () => Promise.reject(refused)
    },
  })
}

/** The nouns of the features that are left out. */
export function leftOutNouns(): readonly string[] {
  return inForce().leftOut.flatMap((feature) => features[feature].nouns ?? [])
}

function wordsOf(feature: Feature): readonly string[] {
  const { nouns = [], words = [] } = features[feature]
  return [...nouns, ...words]
}
