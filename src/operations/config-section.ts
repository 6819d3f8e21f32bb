import { z } from 'zod'
import type { AppliedEntry, KeptSection } from '../store/section.ts'
import type { AddedField } from './fields/added-fields.ts'
import { type FieldChange, fieldChange, fieldChanges } from './fields/field-changes.ts'
import type { Problem } from './input/refuse-input.ts'
import type { OperationContext } from './operation-context.ts'
import { text } from './schema/output-schema.ts'

/** A command that a config file would start, with the path of the field that names it. */
export interface Start {
  /** `schedules.nightly.target`. */
  readonly where: string
  readonly what: string
  /** The rest of what trust covers: fields such as `cwd` and `env`, and the payload that the command reads. */
  readonly with: Readonly<Record<string, unknown>>
  /** Everything that decides what the command does. Trust holds only while this is unchanged. */
  readonly starts: unknown
}

/** The result of applying an entry. */
export interface EntryWritten {
  readonly name: string
  readonly answer: string
  readonly changes: readonly FieldChange[]
}

/** An entry that was applied, before and after; `null` where there was or is none. */
export interface ChangedEntry<Kept, Answer extends string = 'created' | 'updated' | 'unchanged' | 'deleted'> {
  readonly name: string
  readonly answer: Answer
  readonly before: Kept | null
  readonly after: Kept | null
}

/** The result of an entry, with the fields that an update changed. `fieldsOf` names them as the file does. */
export function writtenBy<Kept extends object>(fieldsOf: (kept: Kept) => object = (kept) => kept) {
  const said = (kept: Kept | null) => (kept === null ? {} : fieldsOf(kept))
  return ({ name, answer, before, after }: ChangedEntry<Kept, string>): EntryWritten => {
    return { name, answer, changes: answer === 'updated' ? fieldChanges(said(before), said(after)) : [] }
  }
}

/** A section of a config file: entries by name, managed by the file's source. */
export interface ConfigSection<Entry extends { readonly name: string }, Applied extends AppliedEntry>
  extends KeptSection<Entry, Applied> {
  /** The section's description, for the documents. */
  readonly says: string
  readonly names: z.ZodType
  /** Whether the section is one entry, with the name of the section, and no record of entries by name. */
  readonly isWhole?: true
  /** Whether it is applied before all others, because queues may name its entries. */
  readonly isFirst?: true
  /** Reads the entries, once for a file. Problems are pushed with the field in the entry. */
  reader(
    context: OperationContext,
    names: readonly string[],
  ): Promise<(name: string, given: unknown, problems: Problem[]) => Entry>
  /** Paths in the entries, relative to the file's folder, that do not exist. */
  absent?(given: unknown, context: OperationContext): Problem[]
  /** The entries resolved against the file's folder, so that the same text in another folder counts as changed. */
  placed?(entries: readonly Entry[]): Readonly<Record<string, unknown>>
  /** The targets of its entries, where they are not in a field `target`. */
  targets?(given: unknown): readonly unknown[]
  /** Commands that the section starts besides its targets. Targets need not be listed: they are found at any depth. */
  starts?(given: unknown, where: string): Start[]
  /** What is done outside of the store once the entries are committed; a rehearsal leaves it out. */
  committed?(applied: readonly Applied[]): void
  written(applied: Applied, context: OperationContext): EntryWritten
  notes?(applied: readonly Applied[]): string[]
}

// biome-ignore lint/suspicious/noExplicitAny: each section has its own entry and answer types, and is given only those.
export type AnySection = ConfigSection<any, any>

/** The schema of a section; the section itself reads its entries. */
export function sectionInput({ says }: Pick<AnySection, 'says'>) {
  return z.record(z.string(), z.unknown()).describe(says)
}

/** The answer for one entry. */
export function entryOutput<const Answers extends readonly [string, ...string[]]>(answers: Answers) {
  return {
    name: text('The name of the entry.'),
    answer: z.enum(answers).describe('The result.'),
    changes: z.array(fieldChange).describe('The fields that changed.'),
  }
}

/** The sections of parts as fields of a config file and of the answer to it. */
export function sectionFields(sections: readonly AnySection[]): Readonly<Record<string, AddedField>> {
  const output = z.array(z.strictObject({ ...entryOutput(['']), answer: text('The result.') }))
  return Object.fromEntries(sections.map((section) => [section.name, { input: sectionInput(section), output }]))
}
