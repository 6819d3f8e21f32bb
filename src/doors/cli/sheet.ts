import { plainText } from '../../operations/schedule/plain-text.ts'
import { belfryCommand } from '../../operations/shell-words.ts'

/** What an answer is written on: whoever renders it needs nothing else. */
export interface Sheet {
  /** The store's now. */
  readonly now: number
  /** The reader's own zone, for what has no zone of its own. */
  readonly zone: string
  readonly paint: Paint
  /** Spells a command of ours as it must be typed here; as it stands, where nobody says otherwise. */
  readonly spell?: (command: string) => string
}

/** A command for the reader to type. */
export function commandFor(sheet: Pick<Sheet, 'spell'>, ...words: readonly string[]): string {
  return plainText(spellOn(sheet, belfryCommand(...words)))
}

/** What names commands of ours, as they must be typed here. */
export function spellOn({ spell }: Pick<Sheet, 'spell'>, text: string): string {
  return spell === undefined ? text : spell(text)
}

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

/** Colours a text, or leaves it as it is. */
export type Paint = { readonly [Colour in keyof typeof codes]: (text: string) => string }

export function paintOf(isColoured: boolean): Paint {
  const entries = Object.entries(codes).map(([colour, [on, off]]) => {
    return [colour, (text: string) => (isColoured && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text)]
  })
  return Object.fromEntries(entries) as Paint
}

interface Terminal {
  readonly isTTY?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** Colours are for people at a terminal who did not refuse them. */
export function isColoured({ isTTY }: Terminal, { NO_COLOR, FORCE_COLOR, TERM }: Environment): boolean {
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0') return true
  return isTTY === true && TERM !== 'dumb'
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them.
const colourCodes = /\u001b\[[\d;]*m/g

const ascii = /^[ -~]*$/
/** What is put over the letter before it. */
const over = /[\p{M}\p{Cf}]/u
/** What takes two columns: the scripts of East Asia, their full-width forms, and emoji. */
const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Yi}\p{Emoji_Presentation}\u3000-\u30ff\u3100-\u31ff\uff01-\uff60\uffe0-\uffe6]/u

/** How many columns a text takes where it is shown: colours take none, and some letters two. */
export function shownWidth(text: string): number {
  const plain = text.replace(colourCodes, '')
  if (ascii.test(plain)) return plain.length
  return [...plain].reduce((width, letter) => width + (over.test(letter) ? 0 : wide.test(letter) ? 2 : 1), 0)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /(?![\n\t\u001b])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]|\u001b(?!\[[\d;]*m)/gu

/** What others wrote must not move the cursor, turn a line or rename the window of whoever reads it: it is shown. */
export function printable(text: string): string {
  return text.replace(control, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
