/** The part of a regular expression that matches one character: itself, or a set written as `\d`, `.` or `[a-z]`. */
type Single = { readonly codePoint: number } | { readonly has: (codePoint: number) => boolean }
type Border = 'start' | 'end' | 'word-border' | 'no-word-border'

/** A regular expression as a small program. Alternative steps are followed in parallel. */
type Step =
  | { readonly kind: 'single'; readonly single: Single }
  | { readonly kind: 'border'; readonly border: Border }
  /** Continues at both steps, given as distances from this one. */
  | { readonly kind: 'fork'; readonly first: number; readonly second: number }
  | { readonly kind: 'jump'; readonly to: number }

const sourceLengthMax = 1_000
/** With 100 KB of text the worst pattern then takes tenths of a second and no usual one takes a hundredth. */
const stepsMax = 300
const levelsMax = 50

export const patternExpected =
  `a regular expression of at most ${sourceLengthMax} characters and ${stepsMax} steps, in JavaScript's notation, ` +
  'without look-around and back references'

/** Why a text is not a pattern, as a clause after its name; `null` when it is one. */
export function patternProblem(source: string): string | null {
  const compiled = compile(source)
  return 'problem' in compiled ? compiled.problem : null
}

/**
 * Whether a regular expression matches somewhere in the text, in time that grows with the text alone.
 *
 * JavaScript's engine backtracks. A server that knows the pattern could answer with a text that takes minutes, and would block
 * this process meanwhile: leases would expire. Here all alternatives are followed in parallel, which excludes look-around and
 * back references; they are refused.
 */
export function patternMatches(source: string, text: string): boolean {
  const compiled = compile(source)
  return 'steps' in compiled && runs(compiled.steps, text)
}

type Compiled = { readonly steps: readonly Step[] } | { readonly problem: string }

function compile(source: string): Compiled {
  if (source.length > sourceLengthMax) return { problem: `has ${source.length} characters` }
  try {
    // The reader below relies on a valid notation; only unsupported groups are left to find.
    new RegExp(source, 'u')
  } catch (error) {
    return { problem: `does not compile (${(error as SyntaxError).message})` }
  }
  try {
    return { steps: new Reader(source).program() }
  } catch (error) {
    if (error instanceof Unfit) return { problem: error.message }
    throw error
  }
}

class Unfit extends Error {}

const singlePattern = new RegExp(
  [
    // Two halves of a surrogate pair are one character.
    String.raw`\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}`,
    String.raw`\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\.`,
    String.raw`\[(?:\\.|[^\]\\])*\]`,
    '.',
  ].join('|'),
  'suy',
)
const groupPattern = /\((?:\?:|\?<(?![=!])[^>]*>)?/y
const quantifierPattern = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y
const borders: Readonly<Record<string, Border>> = {
  '^': 'start',
  $: 'end',
  '\\b': 'word-border',
  '\\B': 'no-word-border',
}

/** Compiles a valid notation into steps, from left to right. */
class Reader {
  readonly #source: string
  readonly #sets = new Map<string, Single>()
  #at = 0
  #level = 0

  constructor(source: string) {
    this.#source = source
  }

  program(): Step[] {
    return this.#alternatives()
  }

  #alternatives(): Step[] {
    const steps = this.#sequence()
    if (this.#source[this.#at] !== '|') return steps
    this.#at += 1
    return bounded(either(steps, this.#alternatives()))
  }

  #sequence(): Step[] {
    const steps: Step[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] as string)) {
      steps.push(...this.#term())
      bounded(steps)
    }
    return steps
  }

  #term(): Step[] {
    const steps = this.#source[this.#at] === '(' ? this.#group() : this.#single()
    const quantifier = this.#taken(quantifierPattern)
    return quantifier === null ? steps : bounded(repeated(steps, timesOf(quantifier)))
  }

  #group(): Step[] {
    const opening = this.#taken(groupPattern)?.[0] ?? ''
    if (opening === '(' && this.#source[this.#at] === '?') throw new Unfit('looks around')
    this.#level += 1
    if (this.#level > levelsMax) throw new Unfit(`is nested over ${levelsMax} levels deep`)
    const steps = this.#alternatives()
    this.#level -= 1
    this.#at += 1
    return steps
  }

  #single(): Step[] {
    const written = this.#taken(singlePattern)?.[0] ?? ''
    const border = borders[written]
    if (border !== undefined) return [{ kind: 'border', border }]
    if (/^\\[1-9k]/.test(written)) throw new Unfit('refers back to a group')
    const known = this.#sets.get(written)
    const single = known ?? singleOf(written)
    this.#sets.set(written, single)
    return [{ kind: 'single', single }]
  }

  #taken(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    this.#at += found?.[0].length ?? 0
    return found
  }
}

/** JavaScript itself decides what matches one character, once for each character that occurs. */
function singleOf(written: string): Single {
  const codePoint = written.codePointAt(0) as number
  if (!/^[.[\\]/.test(written)) return { codePoint }
  const set = new RegExp(`^${written}$`, 'u')
  const known = new Map<number, boolean>()
  return {
    has(one) {
      const has = known.get(one) ?? set.test(String.fromCodePoint(one))
      known.set(one, has)
      return has
    },
  }
}

function timesOf([written, least, comma, most]: RegExpExecArray): { least: number; most: number } {
  if (least === undefined) {
    return { least: written.startsWith('+') ? 1 : 0, most: written.startsWith('?') ? 1 : Number.POSITIVE_INFINITY }
  }
  if (comma === '') return { least: Number(least), most: Number(least) }
  return { least: Number(least), most: most === '' ? Number.POSITIVE_INFINITY : Number(most) }
}

function repeated(steps: readonly Step[], { least, most }: { least: number; most: number }): Step[] {
  const copies = Number.isFinite(most) ? most : least + 1
  // A part without steps stays without steps however often it is repeated.
  if (steps.length * copies > stepsMax) throw tooLong(steps.length * copies)
  const all: Step[] = []
  if (steps.length === 0) return all
  for (let copy = 0; copy < least; copy += 1) all.push(...steps)
  if (!Number.isFinite(most)) {
    all.push({ kind: 'fork', first: 1, second: steps.length + 2 }, ...steps, { kind: 'jump', to: -steps.length - 1 })
    return all
  }
  for (let copy = least; copy < most; copy += 1) {
    all.push({ kind: 'fork', first: 1, second: steps.length + 1 }, ...steps)
  }
  return all
}

function either(first: readonly Step[], second: readonly Step[]): Step[] {
  return [
    { kind: 'fork', first: 1, second: first.length + 2 },
    ...first,
    { kind: 'jump', to: second.length + 1 },
    ...second,
  ]
}

function bounded(steps: Step[]): Step[] {
  if (steps.length > stepsMax) throw tooLong(steps.length)
  return steps
}

function tooLong(steps: number): Unfit {
  return new Unfit(`takes ${steps} steps or more`)
}

/** The steps of a program that are reached at one position of the text. */
interface Front {
  readonly places: number[]
  /** The position of the text at which each step was last reached, so that no step is followed twice. */
  readonly reachedAt: Int32Array
}

function runs(steps: readonly Step[], text: string): boolean {
  let front = frontOf(steps)
  let next = frontOf(steps)
  let before = -1
  for (let at = 0; ; ) {
    const here = text.codePointAt(at) ?? -1
    // A match may begin at any position, so the program is started at each.
    if (reach({ steps, front, at, before, here }, 0)) return true
    if (here === -1) return false
    const after = at + (here > 0xffff ? 2 : 1)
    next.places.length = 0
    const beyond = text.codePointAt(after) ?? -1
    for (const place of front.places) {
      const step = steps[place] as Step
      if (step.kind !== 'single' || !fits(step.single, here)) continue
      if (reach({ steps, front: next, at: after, before: here, here: beyond }, place + 1)) return true
    }
    const spare = front
    front = next
    next = spare
    before = here
    at = after
  }
}

function frontOf(steps: readonly Step[]): Front {
  return { places: [], reachedAt: new Int32Array(steps.length).fill(-1) }
}

function fits(single: Single, codePoint: number): boolean {
  return 'codePoint' in single ? single.codePoint === codePoint : single.has(codePoint)
}

interface Reaching {
  readonly steps: readonly Step[]
  readonly front: Front
  readonly at: number
  readonly before: number
  readonly here: number
}

/** Follows the program from one step to the steps that need a character; `true` when it reaches the end. */
function reach(reaching: Reaching, from: number): boolean {
  const { steps, front, at, before, here } = reaching
  const waiting = [from]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const step = steps[place]
    if (step === undefined) return true
    if (front.reachedAt[place] === at) continue
    front.reachedAt[place] = at
    if (step.kind === 'single') front.places.push(place)
    else if (step.kind === 'jump') waiting.push(place + step.to)
    else if (step.kind === 'fork') waiting.push(place + step.second, place + step.first)
    else if (isAt(step.border, before, here)) waiting.push(place + 1)
  }
  return false
}

function isAt(border: Border, before: number, here: number): boolean {
  if (border === 'start') return before === -1
  if (border === 'end') return here === -1
  return (isWord(before) !== isWord(here)) === (border === 'word-border')
}

function isWord(codePoint: number): boolean {
  return codePoint >= 0 && /^\w$/.test(String.fromCodePoint(codePoint))
}
