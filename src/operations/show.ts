import type { TargetKind } from '../targets/kind.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { RunOrigin } from './part.ts'

/** How an answer is shown to a person at a terminal. The entry of a verb says what; the command line writes it. */

/** Colours a text, or leaves it as it is. */
export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>

/** What an answer is written on. */
export interface Sheet {
  /** The store's now. */
  readonly now: number
  /** The zone in which instants are shown. */
  readonly zone: string
  readonly paint: Paint
  /** Where it was written: the store, or the server. */
  readonly place: string
  /** The fields that parts add. */
  readonly added: AddedFields
  /** The kinds of targets, which say what they do. */
  readonly kinds: readonly TargetKind[]
  /** Where runs may come from, by the sources that parts give them. */
  readonly origins: Readonly<Record<string, RunOrigin>>
  /** Whether nothing was written. */
  readonly isRehearsal: boolean
  /** The same sheet in another zone, where there is one. */
  inZone(zone: string | null | undefined): Sheet
  /** `in 3 h, Mon 09:00 Europe/Paris`. */
  when(at: number): string
  /** `in 3 h`, `2 min ago`, `now`. */
  relative(at: number): string
  /** `Mon 09:00 Europe/Paris`, or the date where it is far. */
  local(at: number): string
  /** `2026-11-16 02:00 Europe/Paris`. */
  stamp(at: number): string
  /** `2026-11-16T01:00Z`. */
  utc(at: number): string
  /** `1 h 5 min`. */
  howLong(ms: number): string
  /** A word such as `completed` or `failed` in its colour. */
  status(word: string): string
  /** A command for the reader to type. */
  command(...words: readonly string[]): string
  /** A text that names commands, with each as it must be typed here, and nothing in it that could move a cursor. */
  spelled(text: string): string
  /** Lines with their cells aligned. */
  aligned(lines: readonly (readonly string[])[]): string
  /** A table with headers. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string
  /** What is known of one thing, a line for each, also of the fields that parts add; what is not known is left out. */
  facts<Row>(columns: readonly Column<Row>[], row: Row, added?: keyof AddedFields): string
}

/** What the value of a field is, which says how it is written. */
export type Kind =
  | 'text'
  | 'name'
  /** At most as much of a text as fits beside other columns. */
  | 'short'
  | 'long'
  | 'json'
  | 'count'
  | 'list'
  | 'duration'
  | 'relative'
  | 'when'
  | 'stamp'
  | 'status'
  | 'target'

/** A method, so that an entry of any answer is an entry of the table. */
type Cell<Row> = { write(row: Row, sheet: Sheet): string | null }['write']
type Field<Row> = unknown extends Row ? string : keyof Row & string

/** The header of a column, or the label of a fact, with the field and its kind, or what writes it. */
export type Column<Row> =
  | readonly [label: string, field: Field<Row>, kind: Kind]
  | readonly [label: string, write: Cell<Row>]

export interface Listing<Answer, Row> {
  readonly columns: readonly Column<Row>[]
  /** Said in place of a table without rows. */
  readonly none?: string | ((sheet: Sheet) => string)
  below?(answer: Answer, sheet: Sheet): string | null
}

export interface Facts<Answer> {
  /** What stands above the facts. */
  head?(answer: Answer, sheet: Sheet): string
  readonly facts: readonly Column<Answer>[]
  /** Whose fields of parts stand below them. */
  readonly added?: keyof AddedFields
  below?(answer: Answer, sheet: Sheet): string | null
}

type RowOf<Answer> = Answer extends readonly (infer Row)[] ? Row : unknown

/** Columns, facts or a sentence; what takes more than that is loaded only where it is shown. */
export type Show<Answer> =
  | Listing<Answer, RowOf<Answer>>
  | Facts<Answer>
  | Cell<Answer>
  | { load(): Promise<Cell<Answer>> }

export function indented(text: string, by = 2): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by))
}

/** What is said behind what a rehearsal would have done. */
export const rehearsed = '(a rehearsal: nothing was written)'

/** `deleted queue a`, or what a rehearsal would have deleted. */
export function deleted(what: string, { isRehearsal }: Sheet): string {
  return isRehearsal ? `would delete ${what} ${rehearsed}` : `deleted ${what}`
}

const writes = {
  created: ['created', 'would create'],
  updated: ['updated', 'would update'],
  unchanged: ['nothing changed of', 'nothing would change of'],
} as const

/** What a write came to, in the words before its subject. */
export function written(answer: keyof typeof writes, { isRehearsal }: Sheet): string {
  return writes[answer][isRehearsal ? 1 : 0]
}
