import type { Secret } from './secret.ts'
import { Trie } from './trie.ts'

/** Shorter secrets occur by chance, and taking them out would leave no readable text. */
const valueLengthMin = 4
/** A line of a secret that has several is taken out by itself when it is long enough to be no mere bracket. */
const lineLengthMin = 8

export interface Redactor {
  /** The next piece, without what may yet turn out to be the beginning of a secret. */
  add(text: string): string
  /** What was held back. */
  end(): string
}

/** Puts `[secret NAME]` in the place of each secret, also where it is written for a URL, in JSON or in base64. */
export function redact(text: string, secrets: readonly Secret[]): string {
  const stream = redactor(secrets)
  return stream.add(text) + stream.end()
}

/**
 * Redacts a text that comes in pieces, so that a secret cut in two is found as well. However the text is cut, all pieces
 * together are what `redact` makes of the whole.
 */
export function redactor(secrets: readonly Secret[]): Redactor {
  const forms = formsOf(secrets)
  if (forms.length === 0) return { add: (text) => text, end: () => '' }
  const stream = new Stream(forms)
  return { add: (text) => stream.add(text), end: () => stream.end() }
}

/** One way a secret may be written. */
interface Form {
  readonly text: string
  readonly name: string
}

/** A part of the text in which secrets stand. Where they overlap it is one part, or the rest of one would stay. */
interface Stretch {
  readonly start: number
  readonly end: number
  /** The longest of them, by which the whole is called. */
  readonly form: Form
}

/** Places are counted from the beginning of all pieces together. */
class Stream {
  readonly #forms: readonly Form[]
  readonly #trie: Trie
  #node = 0
  #readTo = 0
  /** What was read and not yet given out, from a place on. What certainly is a secret's is let go at once. */
  #held = ''
  #heldFrom = 0
  #stretches: Stretch[] = []

  constructor(forms: readonly Form[]) {
    this.#forms = forms
    this.#trie = new Trie(forms.map(({ text }) => text))
  }

  add(piece: string): string {
    this.#held += piece
    for (let at = 0; at < piece.length; at++) {
      this.#node = this.#trie.next(this.#node, piece.charCodeAt(at))
      this.#readTo++
      const ended = this.#trie.ended(this.#node)
      if (ended !== -1) this.#cover(this.#forms[ended] as Form)
    }
    return this.#released(this.#readTo - this.#trie.openLength(this.#node))
  }

  end(): string {
    return this.#released(this.#readTo)
  }

  /** A form ends at the place that has been read to. */
  #cover(form: Form): void {
    let start = this.#readTo - form.text.length
    let longest = form
    for (let last = this.#stretches.at(-1); last !== undefined && last.end > start; last = this.#stretches.at(-1)) {
      this.#stretches.pop()
      start = Math.min(start, last.start)
      if (last.form.text.length > longest.text.length) longest = last.form
    }
    this.#stretches.push({ start, end: this.#readTo, form: longest })
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

/** Every way in which secrets may be written, each once. */
function formsOf(secrets: readonly Secret[]): Form[] {
  const names = new Map<string, string>()
  for (const { name, value } of secrets) {
    if (value.length < valueLengthMin) continue
    const lines = value.split(/\r?\n/).map((line) => line.trim())
    const texts = [value, ...(lines.length > 1 ? lines.filter((line) => line.length >= lineLengthMin) : [])]
    for (const text of texts) {
      for (const form of [text, ...urlForms(text), ...jsonForms(text), ...base64Forms(text)]) {
        if (!names.has(form)) names.set(form, name)
      }
    }
  }
  return [...names].map(([text, name]) => ({ text, name }))
}

/** Those who write URLs differ in which signs they leave as they are, and in the case of the digits. */
function urlForms(text: string): string[] {
  const whole = text.toWellFormed()
  const component = encodeURIComponent(whole)
  const strict = component.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const form = new URLSearchParams({ '': whole }).toString().slice(1)
  const forms = [component, strict, form, encodeURI(whole)]
  return [...forms, ...forms.map((each) => each.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))]
}

function jsonForms(text: string): string[] {
  const form = JSON.stringify(text).slice(1, -1)
  const ascii = form.replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [form, ascii]
}

/**
 * Base64 writes three bytes as four signs, so a secret inside something longer, such as `user:password`, looks different
 * at each of three offsets. Of each the signs are taken that the secret alone decides.
 */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text)
  const forms = [bytes.toString('base64')]
  for (const offset of [0, 1, 2]) {
    const written = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    forms.push(written.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6)))
  }
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''))]
}
