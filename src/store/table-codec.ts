import { BelfryError } from '../core/error.ts'
import type { Row, Statement, Value } from './statement.ts'

/** A column of a table: its type in PostgreSQL, and how its values are read and written. */
export interface Column<Content> {
  readonly type: 'bigint' | 'int' | 'smallint' | 'text'
  /** Default: the field's name in snake case. */
  readonly name?: string
  /** `row` and `place`, the names of column and table, are for the message about a value that cannot be read. */
  readonly read: (value: Value, row: Row, place: string) => Content
  readonly write: (content: Content) => Value
}

function plain<Content extends Value>(type: Column<Content>['type']): Column<Content> {
  return { type, read: (value) => value as Content, write: (content) => content }
}

export const big = plain<number>('bigint')
export const int = plain<number>('int')
export const text = plain<string>('text')
export const flag: Column<boolean> = {
  type: 'smallint',
  read: (value) => value === 1,
  write: (content) => (content ? 1 : 0),
}

/** A text of which the code knows every value. */
export function word<Content extends string | null>(): Column<Content> {
  return plain<Content>('text')
}

export function nullable<Content>({ read, write, ...column }: Column<Content>): Column<Content | null> {
  return {
    ...column,
    read: (value, row, place) => (value === null ? null : read(value, row, place)),
    write: (content) => (content === null ? null : write(content)),
  }
}

/** Reads a value for a verb: a damaged value is refused. */
export function json<Content>(): Column<Content> {
  return { type: 'text', read: parsed, write: (content) => JSON.stringify(content) }
}

function parsed<Content>(value: Value, row: Row, place: string): Content {
  try {
    return JSON.parse(value as string)
  } catch (cause) {
    throw new BelfryError('failure', `The stored ${place} ${row.name ?? row.id} cannot be read.`, { cause })
  }
}

/** Reads a value for display: a damaged value is shown as it is, marked as unreadable. */
export function shownJson<Content>(): Column<Content> {
  return { type: 'text', read: (value) => shown(value) as Content, write: (content) => JSON.stringify(content) }
}

/** How much of a damaged value is shown, enough to recognise it. */
const shownLengthMax = 200

export function shown(value: Value | undefined): unknown {
  if (typeof value !== 'string') return null
  try {
    return JSON.parse(value)
  } catch {
    return { unreadable: value.slice(0, shownLengthMax) }
  }
}

export function named<Content>(name: string, column: Column<Content>): Column<Content> {
  return { ...column, name }
}

/** Several columns of one kind. */
export function all<Content, Field extends string>(
  column: Column<Content>,
  ...fields: Field[]
): Record<Field, Column<Content>> {
  return Object.fromEntries(fields.map((field) => [field, column])) as Record<Field, Column<Content>>
}

// biome-ignore lint/suspicious/noExplicitAny: a column is read and written as its own table says.
type Columns = Readonly<Record<string, Column<any>>>
type ContentOf<Of> = Of extends Column<infer Content> ? Content : never

type Contents<Of extends Columns> = { readonly [Field in keyof Of]: ContentOf<Of[Field]> }

/** A row of a table as the verbs have it. */
export type RowOf<Some> = Some extends Table<infer Of> ? Contents<Of> : never

type Texts = Omit<Statement, 'name'>

interface Placed {
  readonly field: string
  readonly name: string
  readonly place: string
  readonly column: Columns[string]
}

/**
 * The columns of a table, or some of them, with the SQL texts that read and write them, all derived from one
 * declaration.
 */
export class Table<Of extends Columns> {
  readonly name: string
  readonly #columns: readonly Placed[]

  constructor(name: string, columns: Of) {
    this.name = name
    this.#columns = Object.entries(columns).map(([field, column]) => {
      const own = column.name ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return { field, name: own, place: `${own} of ${name}`, column }
    })
  }

  /** The same table with only some of its columns, in this order. */
  only<Field extends keyof Of & string>(...fields: Field[]): Table<Pick<Of, Field>> {
    const known = new Map(this.#columns.map(({ field, name, column }) => [field, { ...column, name }]))
    return new Table(this.name, Object.fromEntries(fields.map((field) => [field, known.get(field)])) as Pick<Of, Field>)
  }

  but<Field extends keyof Of & string>(...fields: Field[]): Table<Omit<Of, Field>> {
    const kept = this.#columns.map(({ field }) => field).filter((field) => !fields.includes(field as Field))
    return this.only(...kept) as unknown as Table<Omit<Of, Field>>
  }

  /**
   * The same table with more fields, for reading rows that have more columns than the table. A field that is added to an object of
   * many fields costs as much as reading all of them, so a row gets all its fields here.
   */
  and<More extends Columns>(more: More): Table<Of & More> {
    const known = this.#columns.map(({ field, name, column }) => [field, { ...column, name }])
    return new Table(this.name, { ...Object.fromEntries(known), ...more } as Of & More)
  }

  /** `alias` is the table's alias in the statement. */
  columns(alias?: string): string {
    return this.#columns.map(({ name }) => (alias === undefined ? name : `${alias}.${name}`)).join(', ')
  }

  read(row: Row): Contents<Of> {
    const content: Record<string, unknown> = {}
    for (const { field, name, place, column } of this.#columns) {
      content[field] = column.read(row[name] as Value, row, place)
    }
    return content as Contents<Of>
  }

  /** The values of a row, in the order of the columns. */
  tuple(row: Contents<Of>): Value[] {
    const content = row as Record<string, unknown>
    return this.#columns.map(({ field, column }) => column.write(content[field]))
  }

  /** Inserts one row; `end` follows the values. */
  insertOne(end = ''): string {
    const places = this.#columns.map((_, index) => `$${index + 1}`)
    return `insert into belfry.${this.name} (${this.columns()}) values (${places.join(', ')}) ${end}`
  }

  /** Inserts one row per tuple. */
  insert(end = ''): Texts {
    const postgres = `insert into belfry.${this.name} (${this.columns()}) select * from unnest(${this.#arrays()}) ${end}`
    return { sqlite: this.insertOne(end), postgres }
  }

  /** Writes all but the first column, which identifies the rows. */
  update(): Texts {
    const [key, ...names] = this.#columns.map(({ name }) => name)
    const set = (values: string[]) => {
      return names.length === 1 ? `${names} = ${values}` : `(${names.join(', ')}) = (${values.join(', ')})`
    }
    const places = set(names.map((_, index) => `$${index + 2}`))
    const listed = set(names.map((name) => `i.${name}`))
    return {
      sqlite: `update belfry.${this.name} set ${places} where ${key} = $1`,
      postgres: `update belfry.${this.name} t set ${listed}
        from unnest(${this.#arrays()}) as i (${this.columns()}) where t.${key} = i.${key}`,
    }
  }

  #arrays(): string {
    return this.#columns.map(({ column }, index) => `$${index + 1}::${column.type}[]`).join(', ')
  }
}
