import { type Fold, ignored, isLineBreak } from './fold.ts'
import type { Secret } from './secret.ts'
import { type Form, type Reading, readingsOf } from './secret-encodings.ts'

/**
 * A possible beginning of a secret at the end of a line is held back until the next line decides. A possible beginning shorter
 * than this is passed on; otherwise every second line would wait for the next one.
 */
const heldOverBreakMin = 4

/**
 * How many ignored characters a possible beginning of a secret may contain: this many in all, and a fixed number for each
 * character that counts. A dump has two or three for each. Without a limit, the beginning of a secret and endless blanks would be
 * held in memory for ever, and no limit of an output would apply to them.
 */
const ignoredMax = 4_096
const ignoredPerSignMax = 8

/** The trie node before any text has begun. */
const nothingBegun = 0

export interface Redactor {
  /** The next piece, without a possible beginning of a secret at its end. */
  add(text: string): string
  /** The held back rest. */
  end(): string
}

/**
 * Replaces each secret by `[secret NAME]`, also where it is encoded for a URL, in JSON, in base64 or in hexadecimal digits, and
 * where line breaks, blanks or the other columns of a dump are in between.
 */
export function redact(text: string, secrets: readonly Secret[]): string {
  const stream = redactor(secrets)
  return stream.add(text) + stream.end()
}

/**
 * Redacts a text that comes in pieces, so that a split secret is found as well. However the text is split, all pieces together
 * equal `redact` of the whole.
 */
export function redactor(secrets: readonly Secret[]): Redactor {
  const readings = readingsOf(secrets)
  if (readings.length === 0) return { add: (text) => text, end: () => '' }
  const stream = new Stream(readings)
  return { add: (text) => stream.add(text), end: () => stream.end() }
}

/**
 * A part of the text that contains secrets. Overlapping secrets form one part; otherwise the rest of one would
 * stay readable.
 */
interface Stretch {
  readonly start: number
  readonly end: number
  /** The longest of them, which gives the name. */
  readonly form: Form
}

/** A secret in one of its forms that was found, by the position of its end. */
interface Found {
  readonly start: number
  readonly end: number
  readonly form: Form
  readonly reader: Reader
}

/** Positions are counted from the beginning of all pieces together. */
class Stream {
  readonly #readers: readonly Reader[]
  #readTo = 0
  /** Text that was read and not yet passed on, from a position on. Text that certainly belongs to a secret is dropped at once. */
  #held = ''
  #heldFrom = 0
  #stretches: Stretch[] = []
  /** Whether the last stretch extends to the end of its line. */
  #isToLineEnd = false

  constructor(readings: readonly Reading[]) {
    this.#readers = readings.map((reading) => new Reader(reading))
  }

  add(piece: string): string {
    this.#held += piece
    const from = this.#readTo
    this.#readTo += piece.length
    for (const { start, end, form, reader } of this.#foundIn(piece, from)) {
      this.#goOn(piece, from, end)
      this.#cover(start, end, form)
      this.#isToLineEnd ||= reader.toLineEnd
    }
    this.#goOn(piece, from, this.#readTo)
    return this.#released(this.#settledTo())
  }

  /** The found forms in order of their ends. Each reader reads the whole piece, because each skips different text. */
  #foundIn(piece: string, from: number): Found[] {
    const found: Found[] = []
    for (const reader of this.#readers) reader.read(piece, from, found)
    return found.length > 1 ? found.sort((one, other) => one.end - other.end) : found
  }

  end(): string {
    return this.#released(this.#readTo)
  }

  /** The position up to which no later text can change the result. */
  #settledTo(): number {
    const open = Math.min(...this.#readers.map((reader) => reader.openFrom), this.#readTo)
    const last = this.#isToLineEnd ? this.#stretches.at(-1) : undefined
    return Math.min(open, last?.start ?? open)
  }

  /** Extends a stretch that includes the rest of its line, at most up to a position. */
  #goOn(piece: string, from: number, until: number): void {
    const last = this.#isToLineEnd ? this.#stretches.pop() : undefined
    if (last === undefined) return
    let end = last.end
    while (end < until && !isLineBreak(piece.charCodeAt(end - from))) end++
    this.#isToLineEnd = end === until
    this.#stretches.push({ ...last, end })
  }

  #cover(from: number, end: number, form: Form): void {
    let start = from
    let longest = form
    for (let last = this.#stretches.at(-1); last !== undefined && last.end > start; last = this.#stretches.at(-1)) {
      this.#stretches.pop()
      start = Math.min(start, last.start)
      if (last.form.length > longest.length) longest = last.form
    }
    this.#stretches.push({ start, end, form: longest })
  }

  /** Passes on the text before this position, which later text cannot change. */
  #released(until: number): string {
    const parts: string[] = []
    const isFinal = this.#stretches.findIndex(({ end }) => end > until)
    const finals = this.#stretches.splice(0, isFinal === -1 ? this.#stretches.length : isFinal)
    for (const { start, end, form } of finals) {
      parts.push(this.#taken(start), `[secret ${form.name}]`)
      this.#taken(end)
    }
    const [growing] = this.#stretches
    parts.push(this.#taken(Math.min(until, growing?.start ?? until)))
    if (growing !== undefined && growing.start <= until) this.#taken(growing.end)
    return parts.join('')
  }

  /** Removes and returns the held text up to a position. */
  #taken(until: number): string {
    const length = Math.max(0, until - this.#heldFrom)
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    this.#heldFrom += length
    return taken
  }
}

/** Reads the text in one way, and keeps the positions of characters that may belong together. */
class Reader {
  readonly toLineEnd: boolean
  readonly #reading: Reading
  readonly #fold: Fold
  /** The positions of the last counted characters, as many as the longest form has. */
  readonly #places: Float64Array
  #count = 0
  #node = 0
  /** Text before this position is already passed on. */
  #floor = 0

  constructor(reading: Reading) {
    this.#reading = reading
    this.#fold = reading.folding()
    this.#places = new Float64Array(reading.forms.reduce((most, { length }) => Math.max(most, length), 1))
    this.toLineEnd = reading.toLineEnd
  }

  /** Reads a piece that begins at a position, and adds the forms that end in it. */
  read(piece: string, from: number, found: Found[]): void {
    const { starts } = this.#reading
    for (let at = 0; at < piece.length; at++) {
      // A shortcut: nearly all text begins no secret.
      if (this.#node === nothingBegun) at = this.#fold.skip(piece, at, starts)
      if (at === piece.length) return
      const form = this.#readSign(piece.charCodeAt(at), from + at)
      if (form !== null) found.push({ start: this.#startOf(form), end: from + at + 1, form, reader: this })
    }
  }

  /** The longest form that ends with this character. */
  #readSign(code: number, place: number): Form | null {
    const sign = this.#fold.sign(code)
    if (sign === ignored) {
      this.#letGo(place)
      if (isLineBreak(code) && this.#openLength < heldOverBreakMin) this.#floor = place + 1
      return null
    }
    const { trie, forms } = this.#reading
    this.#node = trie.next(this.#node, sign)
    if (this.#node === nothingBegun) return null
    this.#places[this.#count++ % this.#places.length] = place
    const ended = trie.ended(this.#node)
    return ended === -1 ? null : (forms[ended] as Form)
  }

  /** Falls back to a shorter beginning, or to none, as long as the current one contains too many ignored characters. */
  #letGo(place: number): void {
    while (this.#node !== nothingBegun) {
      const length = this.#openLength
      const ignoredCount = length === 0 ? 0 : place + 1 - this.#placeOfLast(length) - length
      if (ignoredCount <= ignoredMax + ignoredPerSignMax * length) return
      this.#node = this.#reading.trie.shorter(this.#node)
    }
  }

  /** Where the form that has just ended begins. */
  #startOf({ length }: Form): number {
    return Math.max(this.#floor, this.#placeOfLast(length))
  }

  /** Where a possible form begins. */
  get openFrom(): number {
    const length = this.#openLength
    return length === 0 ? Number.POSITIVE_INFINITY : Math.max(this.#floor, this.#placeOfLast(length))
  }

  get #openLength(): number {
    return this.#reading.trie.openLength(this.#node)
  }

  /** The position of the first of the last `length` characters. */
  #placeOfLast(length: number): number {
    return this.#places[(this.#count - length) % this.#places.length] as number
  }
}
