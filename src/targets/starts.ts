/**
 * While no match has begun, most characters can be skipped: no searched text begins with them, or none continues with the next
 * character. This table says, for a pair of characters, whether the first one must be read.
 */
export type Starts = Uint8Array

const [isNone, isMaybe, isOne] = [0, 1, 2] as const

/** All characters beyond ASCII share one entry. */
const beyondAscii = 128
/** Stands for the next character, where that has not arrived yet. */
const notYet = 129
const width = 130
/** The backslash is always read, because it may change the meaning of the characters after it. */
const backslash = 92

/**
 * The table for these texts. `signOf` maps a character of the text that is read to the character it is compared as; negative: ignored.
 */
export function startsOf(signOf: (code: number) => number, texts: Iterable<string>): Starts {
  const starts = new Uint8Array(width * width)
  const codes = Array.from({ length: beyondAscii + 1 }, (_, code) => code)
  const signs = codes.map(signOf)
  const codesOf = (sign: number) => (sign >= beyondAscii ? [beyondAscii] : codes.filter((code) => signs[code] === sign))
  const leftOut = codes.filter((code) => (signs[code] as number) < 0)
  for (const beginning of new Set(Array.from(texts, (text) => text.slice(0, 2)))) {
    const [first, second] = [beginning.charCodeAt(0), beginning.charCodeAt(1)]
    const nexts = Number.isNaN(second) ? codes : codesOf(second)
    for (const code of codesOf(first)) {
      for (const next of leftOut) starts[code * width + next] = isMaybe
      for (const next of [...nexts, notYet, backslash]) starts[code * width + next] = isOne
    }
  }
  return starts.fill(isOne, backslash * width, (backslash + 1) * width)
}

/** Whether a text may begin at a position, or a character there is always read. */
export function isStart(text: string, at: number, starts: Starts): boolean {
  const next = at + 1 < text.length ? Math.min(text.charCodeAt(at + 1), beyondAscii) : notYet
  return starts[Math.min(text.charCodeAt(at), beyondAscii) * width + next] !== isNone
}

/** The next such position at or after a given one; the length of the text if there is none. */
export function nextStart(text: string, from: number, starts: Starts): number {
  const last = text.length - 1
  let code = Math.min(text.charCodeAt(from), beyondAscii)
  for (let at = from; at < last; at++) {
    const next = Math.min(text.charCodeAt(at + 1), beyondAscii)
    const start = starts[code * width + next]
    if (start === isOne || (start === isMaybe && goesOnBehind(text, at, starts))) return at
    code = next
  }
  return isStart(text, last, starts) ? last : text.length
}

/** Whether a text may begin at a position and continue after ignored characters. */
function goesOnBehind(text: string, at: number, starts: Starts): boolean {
  const row = Math.min(text.charCodeAt(at), beyondAscii) * width
  let behind = at + 2
  while (behind < text.length && starts[row + Math.min(text.charCodeAt(behind), beyondAscii)] === isMaybe) behind++
  const next = behind < text.length ? Math.min(text.charCodeAt(behind), beyondAscii) : notYet
  return starts[row + next] === isOne
}
