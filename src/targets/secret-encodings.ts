import { dump, type Folding, folded, hex, hexDigit, plain, unbroken } from './fold.ts'
import type { Secret } from './secret.ts'
import { type Starts, startsOf } from './starts.ts'
import { Trie } from './trie.ts'

/** Shorter secrets occur by chance, and redacting them would leave no readable text. */
const valueLengthMin = 4
/** A line of a multi-line secret is redacted by itself when it is long enough not to be a mere bracket. */
const lineLengthMin = 8
/** A shorter secret, read across blanks, is found in ordinary sentences. */
const wrappedLengthMin = 16

/** One way a secret may be written. */
export interface Form {
  readonly length: number
  readonly name: string
}

/** A way of reading a text, and the forms to search for in it. */
export interface Reading {
  readonly folding: Folding
  readonly trie: Trie
  /** The positions at which one of the forms may begin. */
  readonly starts: Starts
  readonly forms: readonly Form[]
  /** Whether the rest of the line is redacted too: a dump shows the bytes again as text after their digits. */
  readonly toLineEnd: boolean
}

/** Caches the last secrets: a command's two streams and each header of an answer use the same ones. */
const known = new WeakMap<readonly Secret[], readonly Reading[]>()

/** The ways of reading in which all these secrets are found. Empty when there is nothing to find. */
export function readingsOf(secrets: readonly Secret[]): readonly Reading[] {
  const found = known.get(secrets) ?? made(secrets)
  known.set(secrets, found)
  return found
}

function made(secrets: readonly Secret[]): Reading[] {
  const texts = textsIn(secrets)
  if (texts.length === 0) return []
  const digits = searched(texts, hexForms)
  const inHex = reading(hex, digits)
  return [
    reading(plain, searched(texts, plainForms)),
    reading(unbroken, searched(texts, unbrokenForms)),
    inHex,
    { ...inHex, folding: dump, starts: startsOf(hexDigit, digits.keys()), toLineEnd: true },
  ]
}

/** The secrets, and the lines of multi-line ones. */
function textsIn(secrets: readonly Secret[]): Secret[] {
  return secrets.flatMap(({ name, value }) => {
    if (value.length < valueLengthMin) return []
    const lines = value.split(/\r?\n/).map((line) => line.trim())
    const whole = lines.length > 1 ? lines.filter((line) => line.length >= lineLengthMin) : []
    return [value, ...whole].map((text) => ({ name, value: text }))
  })
}

/** Every form once, with the name of the first secret that has it. */
function searched(texts: readonly Secret[], formsOf: (text: string) => string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { name, value } of texts) {
    for (const form of formsOf(value)) if (form !== '' && !names.has(form)) names.set(form, name)
  }
  return names
}

function reading(folding: Folding, names: ReadonlyMap<string, string>): Reading {
  const forms = [...names].map(([text, name]) => ({ length: text.length, name }))
  const starts = startsOf((code) => folding().sign(code), names.keys())
  return { folding, trie: new Trie([...names.keys()]), starts, forms, toLineEnd: false }
}

function plainForms(text: string): string[] {
  return [text, ...urlForms(text), ...jsonForms(text)]
}

function unbrokenForms(text: string): string[] {
  const whole = folded(text, unbroken)
  return [...(whole.length < wrappedLengthMin ? [] : [whole]), ...base64Forms(text)]
}

/** URL encoders differ in the characters that they leave unencoded, and in the case of the digits. */
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
 * Base64 writes three bytes as four characters, so a secret inside something longer, such as `user:password`, looks different at
 * each of three offsets. For each offset only the characters that depend on the secret alone are used.
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

/** Byte by byte, as arrays and escapes in source code, and as little-endian words of two bytes (`hexdump`, `od -x`). */
function hexForms(text: string): string[] {
  const bytes = Buffer.from(text)
  const digits = bytes.toString('hex')
  const prefixed = ['x', '0x'].map((prefix) => digits.replace(/../g, (byte) => `${prefix}${byte}`))
  return [digits, ...prefixed, swapped(bytes), swapped(bytes.subarray(1))]
}

function swapped(bytes: Buffer): string {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 2))
  return Buffer.from(whole).swap16().toString('hex')
}
