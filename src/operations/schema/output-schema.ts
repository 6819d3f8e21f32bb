import { z } from 'zod'
import { noted } from './schema-note.ts'

/** The type of an answer, from its schema: read-only, as programs receive it. */
export type AnswerOf<Schema extends z.ZodType> = Shown<z.output<Schema>>

/** The same, read-only at any depth. */
export type Shown<Value> = Value extends string | number | boolean
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Shown<Item>[]
    : Value extends object
      ? { readonly [Field in keyof Value]: Shown<Value[Field]> }
      : Value

/** The schema of an answer whose type is declared elsewhere. It compiles only when each is assignable to the other. */
export function outputOf<Answer>() {
  return <Schema extends z.ZodType<Answer>>(
    schema: Schema,
    ..._: Answer extends Shown<z.output<Schema>> ? [] : [never]
  ): z.ZodType<Answer> => schema
}

export function instantOutput(says: string) {
  return noted(z.int().describe(`${says} In epoch ms.`), { isInstant: true })
}

export function count(says: string) {
  return z.int().describe(says)
}

export function text(says: string) {
  return z.string().describe(says)
}

/** A sentence that says what to do and may contain `belfry` commands. */
export function advice(says?: string) {
  return noted(says === undefined ? z.string() : text(says), { hasCommands: true })
}

export function flag(says: string) {
  return z.boolean().describe(says)
}

/** The answer to the deletion of something by its name. */
export const freedName = z.strictObject({
  name: text('The freed name.'),
  deleted: z.literal(true).describe('Always true.'),
})
