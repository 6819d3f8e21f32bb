import { type Fold, ignored, isLineBreak } from './fold.ts'
import type { Secret } from './secret.ts'
import { type Form, type Reading, readingsOf } from './secret-encodings.ts'

/**
 * What looks like the beginning of a secret at the end of a line is held back until the next line shows what it is. Fewer signs than
 * these are given out, or every other line would wait for the next one.
 */
const heldOverBreakMin = 4

/**
 * How many signs that a fold leaves out may stand inside what looks like the beginning of a secret: so many in all, and so many for
 * each sign that counts. A dump has two or three for each. Without a limit, the beginning of a secret and endless blanks would be held
 * in memory for ever, and no limit of an output would apply to them.
 */
const ignoredMax = 4_096
const ignoredPerSignMax = 8

/** Where a reader of a trie stands that has seen no beginning of anything. */
const nothingBegun = 0

export interface Redactor {
  /** The next piece, without what may yet turn out to be the beginning of a secret. */
  add(text: string): string
  /** What was held back. */
  end(): string
}

/**
 * Puts `[secret NAME]` in the place of each secret, also where it is written for a URL, in JSON, in base64 or in hexadecimal digits,
 * and where line breaks, blanks or the other columns of a dump stand in between.
 */
export function redact(text: string, secrets: readonly Secret[]): string {
  const stream = redactor(secrets)
  return stream.add(text) + stream.end()
}

/**
 * Redacts a text that comes in pieces, so that a secret cut in two is found as well. However the text is cut, all pieces
 * together are what `redact` makes of the whole.
 */
export function redactor(secrets: readonly Secret[]): Redactor {
  const readings = readingsOf(secrets)
  if (readings.length === 0) return { add: (text) => text, end: () => '' }
  const stream = new Stream(readings)
  return { add: (text) => stream.add(text), end: () => stream.end() }
}

/** A part of the text in which secrets stand. Where they overlap it is one part, or the rest of one would stay. */
interface Stretch {
  readonly start: number
  readonly end: number
  /** The longest of them, by which the whole is called. */
  readonly form: Form
}

/** A form that has ended. */
interface Found {
  readonly start: number
  readonly end: number
  readonly form: Form
  readonly reader: Reader
}

/** Places are counted from the beginning of all pieces together. */
class Stream {
  readonly #readers: readonly Reader[]
  #readTo = 0
  /** What was read and not yet given out, from a place on. What certainly is a secret's is let go at once. */
  #held = ''
  #heldFrom = 0
  #stretches: Stretch[] = []
  /** The last stretch goes on to the end of its line. */
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

  /** By the places at which they end. Each reader reads the whole piece by itself, since it skips what begins nothing to it. */
  #foundIn(piece: string, from: number): Found[] {
    const found: Found[] = []
    for (const reader of this.#readers) reader.read(piece, from, found)
    return found.length > 1 ? found.sort((one, other) => one.end - other.end) : found
  }

  end(): string {
    return this.#released(this.#readTo)
  }

  /** Up to where nothing that is read later can change anything. */
  #settledTo(): number {
    const open = Math.min(...this.#readers.map((reader) => reader.openFrom), this.#readTo)
    const last = this.#isToLineEnd ? this.#stretches.at(-1) : undefined
    return Math.min(open, last?.start ?? open)
  }

  /** Lets a stretch that takes the rest of its line go on, up to a place at most. */
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

  /** Gives out what nothing that begins at this place or later can change. */
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

  /** Lets go of what is held up to a place, and answers it. */
  #taken(until: number): string {
    const length = Math.max(0, until - this.#heldFrom)
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    this.#heldFrom += length
    return taken
  }
}

/** Reads the signs in one way, and knows where those stand that may belong together. */
class Reader {
  readonly toLineEnd: boolean
  readonly #reading: Reading
  readonly #fold: Fold
  /** The places of the signs that counted last, as many as the longest form has. */
  readonly #places: Float64Array
  #count = 0
  #node = 0
  /** What stands before it is given out already. */
  #floor = 0

  constructor(reading: Reading) {
    this.#reading = reading
    this.#fold = reading.folding()
    this.#places = new Float64Array(reading.forms.reduce((most, { length }) => Math.max(most, length), 1))
    this.toLineEnd = reading.toLineEnd
  }

  /** Reads a piece that begins at a place, and adds what ends in it. */
  read(piece: string, from: number, found: Found[]): void {
    const { starts } = this.#reading
    for (let at = 0; at < piece.length; at++) {
      // Nearly all that is ever read begins nothing.
      if (this.#node === nothingBegun) at = this.#fold.skip(piece, at, starts)
      if (at === piece.length) return
      const form = this.#readSign(piece.charCodeAt(at), from + at)
      if (form !== null) found.push({ start: this.#startOf(form), end: from + at + 1, form, reader: this })
    }
  }

  /** The longest form that ends with this sign. */
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

  /** Goes back to a shorter beginning, or to none, while too many ignored signs stand inside the longest one. */
  #letGo(place: number): void {
    while (this.#node !== nothingBegun) {
      const length = this.#openLength
      const ignoredCount = length === 0 ? 0 : place + 1 - this.#placeOfLast(length) - length
      if (ignoredCount <= ignoredMax + ignoredPerSignMax * length) return
      this.#node = this.#reading.trie.shorter(this.#node)
    }
  }

  /** Where a form begins that has just ended. */
  #startOf({ length }: Form): number {
    return Math.max(this.#floor, this.#placeOfLast(length))
  }

  /** Where that begins which may yet turn out to be a form. */
  get openFrom(): number {
    const length = this.#openLength
    return length === 0 ? Number.POSITIVE_INFINITY : Math.max(this.#floor, this.#placeOfLast(length))
  }

  get #openLength(): number {
    return this.#reading.trie.openLength(this.#node)
  }

  /** The place at which the last so many signs began. */
  #placeOfLast(length: number): number {
    return this.#places[(this.#count - length) % this.#places.length] as number
  }
}
