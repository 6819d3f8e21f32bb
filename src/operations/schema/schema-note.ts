import { z } from 'zod'
import type { TargetKind } from '../../targets/kind.ts'
import type { ExtensionPoint } from '../fields/added-fields.ts'
import type { Brief } from './brief.ts'

/** What a schema tells beside its rules and its description. */
export interface Note {
  /** What would be right, as a refusal says it, where the rules of the schema do not say it best. */
  readonly expected?: string
  /** The form of what is judged by other means than schemas, which may depend on the kinds of targets. A JSON Schema shows it in its place. */
  readonly form?: z.ZodType | ((kinds: readonly TargetKind[]) => z.ZodType)
  /** That it is the text of a file, which a command line is told by its path; and a path that stands for it in examples. */
  readonly file?: string
  /** Whether it is an instant, which is epoch ms inside and ISO text at the doors. */
  readonly isInstant?: true
  /** Whether it names commands of ours, which the command line spells as they must be typed there. */
  readonly hasCommands?: true
  /** Whether each field of the object has a flag of its own at a command line: `--backoff-base` of `backoff.base`. */
  readonly hasFlags?: true
  /** That it is a target, which workers execute: what starts programs or sends secrets is for admins to write. */
  readonly isTarget?: true
  /** That parts may add fields to the object. */
  readonly open?: ExtensionPoint
  /** The name under which a JSON Schema tells it once, however often it occurs. */
  readonly id?: string
  /** The version of such an answer, by which a later change can say what it was made of. */
  readonly version?: (value: never) => string
  /** What a model is told of it, unless it asks for every field. */
  readonly brief?: Brief
}

/** A registry of our own: what stands in zod's is copied into every JSON Schema, and ids in it are the whole program's. */
const notes = z.registry<Readonly<Record<string, unknown>>>()

/** Puts a note beside a schema. What is made of the schema by `describe` keeps it, but for the id. */
export function noted<Schema extends z.ZodType>(schema: Schema, note: Note): Schema {
  notes.add(schema, { ...noteOf(schema), ...note })
  return schema
}

export function noteOf(schema: z.core.$ZodType): Note {
  return (notes.get(schema) ?? {}) as Note
}
