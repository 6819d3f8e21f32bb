import { isRecord } from '../json/record.ts'
import { type Path, parsePath, type ReadRule, valuesAt } from './profile.ts'

export interface NamedRule<Name> {
  readonly name: Name
  readonly rule: ReadRule
}

export interface Match<Name> extends NamedRule<Name> {
  /** The values that the rule finds, perhaps none. */
  readonly found: readonly unknown[]
}

interface Compiled<Name> extends NamedRule<Name> {
  readonly when: readonly { readonly path: Path; readonly values: readonly unknown[] }[]
  readonly at: readonly Path[]
  readonly minus: Path | null
}

const wordsLengthMax = 500

/**
 * Rules that are evaluated together. Nearly all of them test the same field (`type`) first, so they are indexed by its value,
 * and a line that matches no rule is not parsed. Of several rules for a name the first that matches counts.
 */
export class RuleSet<Name extends string> {
  readonly #names: ReadonlySet<Name>
  readonly #key: string
  readonly #byValue = new Map<unknown, Compiled<Name>[]>()
  readonly #others: readonly Compiled<Name>[]
  readonly #needles: readonly string[]
  readonly #starts: readonly string[]

  constructor(given: readonly NamedRule<Name>[]) {
    const rules = given.map(compiled)
    this.#names = new Set(rules.map(({ name }) => name))
    this.#starts = [...new Set(given.flatMap(({ rule: { starts } }) => starts ?? []))]
    this.#key = commonKey(rules)
    const valuesOf = ({ rule: { when = {} } }: Compiled<Name>) =>
      Object.hasOwn(when, this.#key) ? [when[this.#key]].flat() : null
    const values = new Set(rules.flatMap((rule) => valuesOf(rule) ?? []))
    // The rules in the order in which they were given, whatever field they test first.
    for (const value of values)
      this.#byValue.set(
        value,
        rules.filter((rule) => valuesOf(rule)?.includes(value as never) ?? true),
      )
    this.#others = rules.filter((rule) => valuesOf(rule) === null)
    this.#needles = this.#others.length > 0 ? [''] : [...values].map((value) => JSON.stringify(value))
  }

  has(name: Name): boolean {
    return this.#names.has(name)
  }

  /** Whether a line may match, before it is parsed. */
  mayMatch(line: string): boolean {
    return this.#needles.some((needle) => line.includes(needle))
  }

  /** The matches in a JSON value. */
  inValue(value: unknown): Match<Name>[] {
    const rules = this.#byValue.get(isRecord(value) ? value[this.#key] : undefined) ?? this.#others
    return this.#matches(rules, (rule) => foundIn(value, rule))
  }

  /** The matches in a line of text. */
  inLine(line: string): Match<Name>[] {
    if (!this.#starts.some((start) => line.startsWith(start))) return []
    return this.#matches(this.#others, ({ rule }) => wordIn(line, rule))
  }

  #matches(rules: readonly Compiled<Name>[], find: (rule: Compiled<Name>) => unknown[] | null): Match<Name>[] {
    const matches: Match<Name>[] = []
    for (const each of rules) {
      const found = matches.some(({ name }) => name === each.name) ? null : find(each)
      if (found !== null) matches.push({ name: each.name, rule: each.rule, found })
    }
    return matches
  }
}

function compiled<Name>({ name, rule }: NamedRule<Name>): Compiled<Name> {
  const { when = {}, at = [], minus } = rule
  return {
    name,
    rule,
    when: Object.entries(when).map(([path, value]) => ({ path: pathOf(path), values: [value].flat() })),
    at: [at].flat().map(pathOf),
    minus: minus === undefined ? null : pathOf(minus),
  }
}

/** The plain field that most rules look at. */
function commonKey(rules: readonly Compiled<unknown>[]): string {
  const counts = new Map<string, number>()
  for (const { path } of rules.flatMap(({ when }) => when)) {
    const [key] = path[0] ?? []
    if (path.length === 1 && path[0]?.length === 1 && typeof key === 'string')
      counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}

/** A profile was checked before it was stored; an invalid path finds nothing. */
export function pathOf(text: string): Path {
  return parsePath(text) ?? [['\0']]
}

/** The values that a rule finds; `null` where its conditions do not hold. */
function foundIn(value: unknown, { when, at, minus }: Compiled<unknown>): unknown[] | null {
  for (const { path, values } of when) {
    if (!valuesAt(value, path).some((each) => values.includes(each as never))) return null
  }
  const found = at.length === 1 ? valuesAt(value, at[0] as Path) : at.flatMap((path) => valuesAt(value, path))
  return minus === null
    ? found
    : [
        ...found,
        ...valuesAt(value, minus)
          .flatMap(numberOf)
          .map((number) => -number),
      ]
}

/** The word before a given word, in a line with a given beginning. */
function wordIn(line: string, { starts, word }: ReadRule): string[] | null {
  if (starts === undefined || !line.startsWith(starts)) return null
  if (word === undefined) return []
  const words = line.slice(0, wordsLengthMax).split(' ')
  const at = words.findIndex((each) => each.replace(/[.,;:]$/, '') === word)
  return at < 1 ? null : [words[at - 1] as string]
}

/** The number in a text such as `14k`, `1,204` or `$0.06`. */
export function numberOf(value: unknown): number[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [value] : []
  const match = typeof value === 'string' ? /^\$?(\d[\d,]{0,15}(?:\.\d{1,12})?)([kM]?)\$?$/.exec(value) : null
  if (match === null) return []
  return [Number(match[1]?.replaceAll(',', '')) * (match[2] === 'k' ? 1_000 : match[2] === 'M' ? 1_000_000 : 1)]
}
