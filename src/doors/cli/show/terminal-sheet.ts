import { formatDuration } from '../../../core/duration.ts'
import type { Target } from '../../../core/target.ts'
import { kinds } from '../../../kinds.ts'
import { type AddedFields, addedInWords } from '../../../operations/fields/added-fields.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { belfryCommand } from '../../../operations/shell-words.ts'
import type { Column, Kind, Paint, Sheet } from '../../../operations/show.ts'
import { targetInWords } from '../../../operations/target/target-in-words.ts'
import { fields, origins } from '../../../table.ts'
import { columns } from './columns.ts'
import { howLong, local, relative, stamp, utc, when } from './time-text.ts'

interface Writing extends Pick<Sheet, 'now' | 'zone' | 'paint'>, Partial<Pick<Sheet, 'place' | 'isRehearsal'>> {
  /** Spells commands in a text as they must be typed here. */
  readonly spell?: (text: string) => string
}

export class TerminalSheet implements Sheet {
  readonly now: number
  readonly zone: string
  readonly paint: Paint
  readonly place: string
  readonly isRehearsal: boolean
  readonly added = fields
  readonly kinds = kinds
  readonly origins = origins
  readonly #writing: Writing

  constructor(writing: Writing) {
    this.#writing = writing
    this.now = writing.now
    this.zone = writing.zone
    this.paint = writing.paint
    this.place = writing.place ?? ''
    this.isRehearsal = writing.isRehearsal ?? false
  }

  inZone(zone: string | null | undefined): Sheet {
    return zone == null ? this : new TerminalSheet({ ...this.#writing, zone })
  }

  // Properties, so that a show can destructure the sheet.
  readonly when = (at: number): string => when(at, this)
  readonly relative = (at: number): string => relative(at, this.now)
  readonly local = (at: number): string => local(at, this)
  readonly stamp = (at: number): string => stamp(at, this.zone)
  readonly status = (word: string): string => statusColour(word, this.paint)(plainText(word))
  readonly utc = utc
  readonly howLong = howLong

  readonly spelled = (text: string): string => {
    const { spell = (said: string) => said } = this.#writing
    return plainText(spell(text))
  }

  readonly command = (...words: readonly string[]): string => this.spelled(belfryCommand(...words))

  readonly aligned = (lines: readonly (readonly string[])[]): string => columns(null, lines)

  readonly table = <Row>(shown: readonly Column<Row>[], rows: readonly Row[]): string => {
    const headers = shown.map(([label]) => label)
    const lines = rows.map((row) => shown.map((column) => this.#cell(column, row) ?? ''))
    return columns(headers.every((label) => label === '') ? null : headers, lines)
  }

  readonly facts = <Row>(shown: readonly Column<Row>[], row: Row, added?: keyof AddedFields): string => {
    const known = shown.flatMap((column) => {
      const value = this.#cell(column, row)
      return value === null ? [] : [[column[0], value]]
    })
    const more =
      added === undefined ? [] : addedInWords(fields[added], row as object, { kinds: this.kinds, as: 'facts' })
    const lines = [...known, ...more.map(([name, words]) => [name, plainText(words)])]
    return columns(
      null,
      lines.map(([label = '', value = '']) => [this.paint.dim(label), value]),
    )
  }

  #cell<Row>([, field, kind]: Column<Row>, row: Row): string | null {
    if (typeof field === 'function') return field(row, this)
    const value = (row as Readonly<Record<string, unknown>>)[field]
    return value === null || value === undefined || kind === undefined ? null : ways[kind](value as never, this)
  }
}

const shortWidth = 60
const longWidth = 500

const ways: { readonly [Each in Kind]: (value: never, sheet: Sheet) => string } = {
  text: plainText,
  name: (value: unknown, { paint }) => paint.bold(plainText(value)),
  short: (value: unknown) => shortText(value, shortWidth),
  long: (value: unknown) => shortText(value, longWidth),
  json: (value: unknown) => shortText(JSON.stringify(value), longWidth),
  count: (value: number) => String(value),
  list: (value: readonly unknown[]) => value.map(plainText).join(', '),
  duration: (value: number) => formatDuration(value),
  relative: (value: number, sheet) => sheet.relative(value),
  when: (value: number, sheet) => sheet.when(value),
  stamp: (value: number, sheet) => sheet.stamp(value),
  status: (value: string, sheet) => sheet.status(value),
  target: (value: Target) => shortText(targetInWords(value, kinds), shortWidth),
}

function statusColour(word: string, paint: Paint): (text: string) => string {
  if (word === 'completed' || word === 'success') return paint.green
  if (word === 'failed' || word === 'parked') return paint.red
  return word === 'leased' || word === 'fired' ? paint.cyan : paint.yellow
}

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

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

/** Colours only at a terminal whose user did not disable them. */
export function isColoured({ isTTY }: Terminal, { NO_COLOR, FORCE_COLOR, TERM }: Environment): boolean {
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0') return true
  return isTTY === true && TERM !== 'dumb'
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /(?![\n\t\u001b])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]|\u001b(?!\[[\d;]*m)/gu

/** Escapes control characters in foreign text: they could move the cursor, reverse a line or rename the window. */
export function printable(text: string): string {
  return text.replace(control, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
