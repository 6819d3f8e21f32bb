import { z } from 'zod'
import type { TargetKind } from '../../targets/kind.ts'
import type { ExtensionPoint } from '../fields/added-fields.ts'
import type { Brief } from './brief.ts'

/** Facts about a schema beside its rules and its description. */
export interface Note {
  /** The expected value as a refusal states it, where the schema's rules do not state it best. */
  readonly expected?: string
  /** The form of a value that code judges instead of a schema; it may depend on the target kinds. JSON Schemas show this form. */
  readonly form?: z.ZodType | ((kinds: readonly TargetKind[]) => z.ZodType)
  /** The value is the text of a file: the command line takes a path, and examples show this one. */
  readonly file?: string
  /** Its flag at the command line, where that is not its name. */
  readonly flag?: `--${string}`
  /** A list whose values contain commas: each is given by a flag of its own. */
  readonly keepsCommas?: true
  /** An instant: epoch ms inside the process, ISO text at the doors. */
  readonly isInstant?: true
  /** The text contains `belfry` commands, which the command line spells the way this user started it. */
  readonly hasCommands?: true
  /** Each field of the object has its own flag at the command line: `--backoff-base` for `backoff.base`. */
  readonly hasFlags?: true
  /** A target, which workers execute. Only admins may write one that starts programs or sends secrets. */
  readonly isTarget?: true
  /** At the command line, a text that is no JSON object is a line for sh: `{ "command": text }`. */
  readonly isCommandLine?: true
  /** Parts may add fields to the object. */
  readonly open?: ExtensionPoint
  /** The name under which a JSON Schema defines it once, however often it occurs. */
  readonly id?: string
  /** The version of such an answer, which a later write can require. */
  readonly version?: (value: never) => string
  /** The short form for a model, unless it asks for every field. */
  readonly brief?: Brief
}

/** A registry of our own: zod's global registry is copied into every JSON Schema, and its ids are global to the program. */
const notes = z.registry<Readonly<Record<string, unknown>>>()

/** Attaches a note to a schema. A schema derived with `describe` keeps the note, but not the id. */
export function noted<Schema extends z.ZodType>(schema: Schema, note: Note): Schema {
  notes.add(schema, { ...noteOf(schema), ...note })
  return schema
}

export function noteOf(schema: z.core.$ZodType): Note {
  return (notes.get(schema) ?? {}) as Note
}
