import { isStart, nextStart, type Starts } from './starts.ts'

/** The result of a fold for a character that does not count. */
export const ignored = -1

/**
 * Reads a text as if it were encoded: line breaks, separators and other columns are skipped, because an encoder puts them at the
 * ends of its lines, wherever the secret is.
 */
export interface Fold {
  /** The character to compare, or `ignored`. */
  sign(code: number): number
  /** The next position that must be read while no match has begun. No match begins before it. */
  skip(text: string, at: number, starts: Starts): number
}

export type Folding = () => Fold

const [tab, lineFeed, carriageReturn, space, comma, dash, zero, nine, colon, backslash] = [
  9, 10, 13, 32, 44, 45, 48, 57, 58, 92,
] as const
const [upperA, upperF, upperX, lowerA, lowerF, lowerN, lowerR, lowerT] = [65, 70, 88, 97, 102, 110, 114, 116] as const
const caseStep = lowerA - upperA

/** An offset at the beginning of a line of a dump has at least this many digits (`od` writes seven, `xxd` eight). */
const offsetDigitsMin = 6

export function isLineBreak(code: number): boolean {
  return code === lineFeed || code === carriageReturn
}

/** Every character counts. */
export const plain: Folding = () => ({ sign: (code) => code, skip: nextStart })

/** Base64 from `base64`, `openssl` or PEM: broken into lines, perhaps indented, perhaps inside a JSON text. */
export const unbroken: Folding = () => {
  let isEscape = false
  return {
    sign(code) {
      const wasEscape = isEscape
      isEscape = code === backslash && !wasEscape
      if (isEscape || isBlank(code) || (wasEscape && isBreakLetter(code))) return ignored
      return code
    },
    skip: (text, at, starts) => (isEscape ? at : nextStart(text, at, starts)),
  }
}

/** Hexadecimal digits of either case with the usual separators: `73 6b`, `73:6b`, `0x73, 0x6b`, `\x73\x6b`. */
export const hex: Folding = () => {
  let isEscape = false
  return {
    sign(code) {
      const wasEscape = isEscape
      isEscape = code === backslash
      if (isEscape || isBlank(code) || code === colon || code === comma || code === dash) return ignored
      if (wasEscape && isBreakLetter(code)) return ignored
      return code >= upperA && code <= upperX ? code + caseStep : code
    },
    skip: (text, at, starts) => (isEscape ? at : nextStart(text, at, starts)),
  }
}

/** The middle column of `xxd`, `hexdump` and `od`: the digits without the offsets before them and the text after. */
export const dump: Folding = () => {
  let column: 'offset' | 'digits' | 'text' = 'offset'
  let offsetDigits = 0
  let blanks = 0
  /** `xxd` writes a colon after the offset, and then two blanks begin the text; others write them between digits. */
  let hasColon = false
  return {
    sign(code) {
      if (isLineBreak(code)) {
        column = 'offset'
        offsetDigits = 0
        return ignored
      }
      if (column === 'text') return ignored
      const digit = hexDigit(code)
      if (column === 'offset') {
        if (digit !== ignored) offsetDigits++
        else column = offsetDigits >= offsetDigitsMin && (code === colon || isBlank(code)) ? 'digits' : 'text'
        hasColon = code === colon
        blanks = 0
        return ignored
      }
      blanks = isBlank(code) ? blanks + 1 : 0
      if ((digit === ignored && blanks === 0) || (hasColon && blanks === 2)) column = 'text'
      return digit
    },
    skip(text, from, starts) {
      let at = from
      for (; at < text.length; at++) {
        if (column === 'text') at = lineEndFrom(text, at)
        if (at === text.length || (column === 'digits' && isStart(text, at, starts))) return at
        this.sign(text.charCodeAt(at))
      }
      return at
    },
  }
}

function lineEndFrom(text: string, from: number): number {
  let at = from
  while (at < text.length && !isLineBreak(text.charCodeAt(at))) at++
  return at
}

/** A whole text as a fold reads it. */
export function folded(text: string, folding: Folding): string {
  const fold = folding()
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const sign = fold.sign(text.charCodeAt(at))
    if (sign !== ignored) out += String.fromCharCode(sign)
  }
  return out
}

function isBlank(code: number): boolean {
  return code === space || code === tab || isLineBreak(code)
}

/** After a backslash these mean a break in a JSON text. */
function isBreakLetter(code: number): boolean {
  return code === lowerN || code === lowerR || code === lowerT
}

export function hexDigit(code: number): number {
  if ((code >= zero && code <= nine) || (code >= lowerA && code <= lowerF)) return code
  return code >= upperA && code <= upperF ? code + caseStep : ignored
}
