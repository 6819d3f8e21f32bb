import type { TargetKind } from '../targets/kind.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { RunOrigin } from './part.ts'

/** How an answer is printed for a person. Each verb declares it; the command line prints it. */

export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>

/** The formatting functions and facts that an answer is printed with. */
export interface Sheet {
  /** The time of the store's clock. */
  readonly now: number
  /** The time zone in which instants are shown. */
  readonly zone: string
  readonly paint: Paint
  /** The store or server that was written to. */
  readonly place: string
  /** The fields that parts add. */
  readonly added: AddedFields
  /** The target kinds, which describe their targets. */
  readonly kinds: readonly TargetKind[]
  /** The run sources that parts add. */
  readonly origins: Readonly<Record<string, RunOrigin>>
  /** Whether it was a dry run. */
  readonly isRehearsal: boolean
  /** The same sheet in another time zone, where there is one. */
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
  command(...words: readonly string[]): string
  /** A text with its `belfry` commands spelled as the reader must type them, and without control characters. */
  spelled(text: string): string
  /** Lines with their cells aligned. */
  aligned(lines: readonly (readonly string[])[]): string
  /** A table with headers. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string
  /** The facts of one thing, one line each, with the fields that parts add; unknown facts are left out. */
  facts<Row>(columns: readonly Column<Row>[], row: Row, added?: keyof AddedFields): string
}

/** The kind of a field's value, which decides how it is formatted. */
export type Kind =
  | 'text'
  | 'name'
  /** A text, cut to fit beside other columns. */
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

/** A method, because parameters of methods are checked bivariantly: an entry of any answer is then an entry of the table. */
type Cell<Row> = { write(row: Row, sheet: Sheet): string | null }['write']
type Field<Row> = unknown extends Row ? string : keyof Row & string

/** The header of a column or the label of a fact, with a field and its kind, or a function that formats it. */
export type Column<Row> =
  | readonly [label: string, field: Field<Row>, kind: Kind]
  | readonly [label: string, write: Cell<Row>]

export interface Listing<Answer, Row> {
  readonly columns: readonly Column<Row>[]
  /** Printed in place of an empty table. */
  readonly none?: string | ((sheet: Sheet) => string)
  below?(answer: Answer, sheet: Sheet): string | null
}

export interface Facts<Answer> {
  /** The lines above the facts. */
  head?(answer: Answer, sheet: Sheet): string
  readonly facts: readonly Column<Answer>[]
  /** The noun whose added fields are printed below. */
  readonly added?: keyof AddedFields
  below?(answer: Answer, sheet: Sheet): string | null
}

type RowOf<Answer> = Answer extends readonly (infer Row)[] ? Row : unknown

/** Columns, facts or a sentence; a longer printer is loaded only when it is used. */
export type Show<Answer> =
  | Listing<Answer, RowOf<Answer>>
  | Facts<Answer>
  | Cell<Answer>
  | { load(): Promise<Cell<Answer>> }

export function indented(text: string, by = 2): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by))
}

/** Printed after what a dry run would have done. */
export const rehearsed = '(dry run: nothing was written)'

/** `deleted queue a`, or the same for a dry run: `would delete queue a`. */
export function deleted(what: string, { isRehearsal }: Sheet): string {
  return isRehearsal ? `would delete ${what} ${rehearsed}` : `deleted ${what}`
}

const writes = {
  created: ['created', 'would create'],
  updated: ['updated', 'would update'],
  unchanged: ['unchanged:', 'would not change:'],
} as const

/** The result of a write, as the words before its subject. */
export function written(answer: keyof typeof writes, { isRehearsal }: Sheet): string {
  return writes[answer][isRehearsal ? 1 : 0]
}
