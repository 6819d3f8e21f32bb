import { z } from 'zod'
import { noted } from './schema-note.ts'

/** What a schema answers, with lists that are only read. */
type Shown<Value> = Value extends readonly (infer Item)[]
  ? readonly Shown<Item>[]
  : Value extends object
    ? { readonly [Field in keyof Value]: Shown<Value[Field]> }
    : Value

/**
 * The schema of an answer whose type is told elsewhere. Each must be assignable to the other, or it does not compile: a
 * field that one of them has and the other has not would be a lie to whoever reads the documents.
 */
export function outputOf<Answer>() {
  return <Schema extends z.ZodType<Answer>>(
    schema: Schema,
    ..._: Answer extends Shown<z.output<Schema>> ? [] : [never]
  ): z.ZodType<Answer> => schema
}

/** An instant in an answer. */
export function instantOutput(says: string) {
  return noted(z.int().describe(`${says} In epoch ms.`), { isInstant: true })
}

export function count(says: string) {
  return z.int().describe(says)
}

export function text(says: string) {
  return z.string().describe(says)
}

/** What somebody should do, with commands of ours in it. */
export function advice(says?: string) {
  return noted(says === undefined ? z.string() : text(says), { hasCommands: true })
}

export function flag(says: string) {
  return z.boolean().describe(says)
}
