import { argumentsOf, type Field, fieldsOf } from '../parse/command-fields.ts'
import { flagOfField } from '../parse/target-flags.ts'
import type { TypedCommand } from '../show/error-text.ts'

/** Fields that every command has and no verb. */
const everywhere = ['store', 'schema', 'namespace']

/** Spells the fields of a verb as they were typed: `--max-runs` for `maxRuns`, `NAME` for an argument, and the field name for one from a file. */
export class TypedFields {
  readonly #typed: readonly string[]
  readonly #takes: readonly Field[]
  readonly #fields: readonly Field[]

  constructor({ operation, typed }: TypedCommand) {
    this.#typed = typed
    this.#takes = operation === undefined ? [] : argumentsOf(operation)
    this.#fields = operation === undefined ? [] : fieldsOf(operation)
  }

  /** The name of a field with a problem. */
  field(field: string): string {
    if (everywhere.includes(field)) return `--${field}`
    const root = /^[^.[]*/.exec(field)?.[0] ?? field
    const taken = this.#takes.find(({ name }) => name === root)
    if (taken !== undefined) return field.replace(root, taken.flag)
    return this.#ofTarget(field) ?? this.#flag(field, root) ?? field
  }

  /** A sentence with field names in backticks, as all doors get it; `about` is the field that the sentence is about. */
  text(text: string, about?: string): string {
    return text.replace(/`(\w+)((?:\.\w+)?)`/g, (whole, name: string, path: string) => {
      const field = this.#fields.find(({ name: own }) => own === name || `${own}Ms` === name)
      if (field === undefined) return whole
      // Both fields of a duration share one flag, so their names stay as they are: as flags, the
      // sentence would name the same flag twice.
      if (name === `${about}Ms`) return name
      return this.#flag(field.name + path, field.name) ?? field.name + path
    })
  }

  #flag(field: string, root: string): string | null {
    const inside = this.#fields.find(({ name, part }) => part !== undefined && field === `${name}.${part}`)
    if (inside !== undefined && this.#isTyped(inside.flag)) return inside.flag
    const known = this.#fields.find(({ name }) => name === root)
    if (known === undefined || (this.#isTyped('--file') && !this.#isTyped(known.flag))) return null
    const path = field.slice(root.length)
    // An entry of a list is named by its text.
    return known.kind === 'list' ? known.flag : known.flag + path
  }

  #ofTarget(field: string): string | null {
    const found = field.startsWith('target.') ? flagOfField(field.slice('target.'.length)) : undefined
    if (found === undefined) return null
    const isWritten = this.#isTyped('--target') || this.#isTyped('--file')
    if (isWritten && !this.#isTyped(found.flag)) return null
    return `${found.flag} ${found.entry}`.trim()
  }

  #isTyped(flag: string): boolean {
    return this.#typed.some((word) => word === flag || word.startsWith(`${flag}=`))
  }
}
