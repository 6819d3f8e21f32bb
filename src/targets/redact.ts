import type { Secret } from './secret.ts'

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
  const names = formsOf(secrets)
  if (names.size === 0) return { add: (text) => text, end: () => '' }
  // Of two that begin at one place the longer is taken, or its rest would stay.
  const forms = [...names.keys()].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
  const beginsAt = beginningOf(forms)
  let held = ''
  const release = (until: number) => {
    const { text, end } = replaced(held, pattern, names, until)
    held = held.slice(end)
    return text
  }
  return {
    add(piece) {
      held += piece
      return release(beginsAt(held))
    },
    end: () => release(held.length),
  }
}

interface Replaced {
  readonly text: string
  /** Up to where the text was dealt with: `until`, or the end of a secret that began before it. */
  readonly end: number
}

function replaced(text: string, pattern: RegExp, names: ReadonlyMap<string, string>, until: number): Replaced {
  const parts: string[] = []
  let end = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null && match.index < until; match = pattern.exec(text)) {
    parts.push(text.slice(end, match.index), `[secret ${names.get(match[0])}]`)
    end = match.index + match[0].length
  }
  if (end < until) parts.push(text.slice(end, until))
  return { text: parts.join(''), end: Math.max(end, until) }
}

/** Finds where the end of a text could be the beginning of one of the forms; the text's length when nowhere. */
function beginningOf(forms: readonly string[]): (text: string) => number {
  const byFirst = new Map<number, string[]>()
  for (const form of forms) {
    const first = form.charCodeAt(0)
    const known = byFirst.get(first)
    if (known === undefined) byFirst.set(first, [form])
    else known.push(form)
  }
  const lengthMax = forms[0]?.length ?? 0
  return (text) => {
    for (let at = Math.max(0, text.length - lengthMax + 1); at < text.length; at++) {
      const rest = text.length - at
      const isBegun = byFirst
        .get(text.charCodeAt(at))
        ?.some((form) => form.length > rest && text.endsWith(form.slice(0, rest)))
      if (isBegun) return at
    }
    return text.length
  }
}

/** Every way a secret may be written, with the secret's name. */
function formsOf(secrets: readonly Secret[]): Map<string, string> {
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
  return names
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
