import { z } from 'zod'
import type { AppliedEntry, KeptSection } from '../store/section.ts'
import type { AddedField } from './fields/added-fields.ts'
import { type FieldChange, fieldChange } from './fields/field-changes.ts'
import type { Problem } from './input/refuse-input.ts'
import type { OperationContext } from './operation-context.ts'
import { text } from './schema/output-schema.ts'

/** What a file would have a machine do that its owner should know of, by where it says so. */
export interface Start {
  /** `schedules.nightly.target`. */
  readonly where: string
  readonly what: string
  /** What else trust covers: the rest of the target, such as `cwd` and `env`, and the payload that the program reads. */
  readonly with: Readonly<Record<string, unknown>>
  /** All that decides what it does: what must be the same for trust to hold. */
  readonly starts: unknown
}

/** What came of an entry, as it is answered. */
export interface EntryWritten {
  readonly name: string
  readonly answer: string
  readonly changes: readonly FieldChange[]
}

/** A section of a config file: entries by their names, which the source of the file looks after. */
export interface ConfigSection<Entry extends { readonly name: string }, Applied extends AppliedEntry>
  extends KeptSection<Entry, Applied> {
  /** What it holds, for documents. */
  readonly says: string
  /** What may be the name of an entry. */
  readonly names: z.ZodType
  /** Reads entries, once for a file. What is wrong with one is pushed by its field in the entry. */
  reader(
    context: OperationContext,
    names: readonly string[],
  ): Promise<(name: string, given: unknown, problems: Problem[]) => Entry>
  /** What an entry names relative to the file's folder, and is not there. */
  absent?(given: unknown, context: OperationContext): Problem[]
  /** What the entries mean in the folder where the file lies, so that the same text is known as new in another. */
  placed?(entries: readonly Entry[]): Readonly<Record<string, unknown>>
  /** What the section has a machine do besides starting the targets in it, which are found at any depth. */
  starts?(given: unknown, where: string): Start[]
  written(applied: Applied, context: OperationContext): EntryWritten
  /** What a person may want to know besides. */
  notes?(applied: readonly Applied[]): string[]
}

// biome-ignore lint/suspicious/noExplicitAny: each section has entries and answers of its own, and is handed only those.
export type AnySection = ConfigSection<any, any>

/** How a section is given. What lies in an entry is read by the section. */
export function sectionInput({ says }: Pick<AnySection, 'says'>) {
  return z.record(z.string(), z.unknown()).describe(says)
}

/** What is answered of an entry. */
export function entryOutput<const Answers extends readonly [string, ...string[]]>(answers: Answers) {
  return {
    name: text('Its name.'),
    answer: z.enum(answers).describe('What came of it.'),
    changes: z.array(fieldChange).describe('What is other than before, field by field.'),
  }
}

/** The sections of parts as fields of a file, and of the answer to one. */
export function sectionFields(sections: readonly AnySection[]): Readonly<Record<string, AddedField>> {
  const output = z.array(z.strictObject({ ...entryOutput(['']), answer: text('What came of it.') }))
  return Object.fromEntries(sections.map((section) => [section.name, { input: sectionInput(section), output }]))
}
