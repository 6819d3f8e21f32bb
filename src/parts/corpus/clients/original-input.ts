import { z } from 'zod'
import { readWhole } from '../../../operations/input/read-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { refuse } from '../../../operations/input/refuse-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { itemPathIn } from '../tree/document-file.ts'
import { ownFields } from '../verbs/item-verbs.ts'

type Given = Readonly<Record<string, unknown>>

/** The fields of an entry in a list of documents. */
export const metaFields = [
  'path',
  'depth',
  'emphasis',
  'stalenessSeconds',
  'lastSynthesized',
  'hasError',
  'locked',
  'disabled',
  'architectTokens',
  'builderTokens',
  'criticTokens',
  'phaseState',
  'owedPhase',
] as const

const path = z.string().min(1).optional()
const yesOrNo = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()
const csv = z
  .string()
  .min(1)
  .transform((text) => text.split(','))
const hours = noted(
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number),
  { expected: 'a number of hours' },
)
const archived = noted(
  z
    .string()
    .regex(/^(true|false|\d{1,4})$/)
    .transform((text) => (text === 'true' ? Number.POSITIVE_INFINITY : text === 'false' ? 0 : Number(text))),
  { expected: 'true, false, or how many of the newest' },
)

/** The queries of the routes. A field that a route does not know is refused: a filter that is left out answers another question. */
export const queries = {
  none: z.strictObject({}),
  path: z.strictObject({ path }),
  list: z.strictObject({
    pathPrefix: z.string().optional(),
    hasError: yesOrNo,
    neverSynthesized: yesOrNo,
    locked: yesOrNo,
    disabled: yesOrNo,
    staleHours: hours.optional(),
    fields: csv.pipe(z.array(z.enum(metaFields))).optional(),
  }),
  item: z.strictObject({ fields: csv.optional(), includeArchive: archived.optional() }),
}

const { steer, crossRefs } = ownFields
export const bodies = {
  none: z.strictObject({}),
  path: z.strictObject({ path }),
  seed: z.strictObject({ path: z.string().min(1), steer, crossRefs }),
  item: z.strictObject({
    _steer: steer.nullable(),
    _emphasis: ownFields.emphasis.nullable(),
    _depth: ownFields.depth.nullable(),
    _crossRefs: crossRefs.nullable(),
    _disabled: ownFields.disabled.nullable(),
  }),
}

/** The query of a request. A parameter that is given twice is refused, because only one of the two could hold. */
export function queryIn<Form extends z.ZodObject>(form: Form, url: string): z.output<Form> {
  const params = new URL(url).searchParams
  const twice: Problem[] = [...new Set(params.keys())].flatMap((field) =>
    params.getAll(field).length > 1 ? [{ field, problem: 'is given twice', expected: 'once' }] : [],
  )
  refuse('The query', twice)
  return readWhole(form, Object.fromEntries(params), { subject: 'The query', noun: 'the query of this route' })
}

/** The body of a request. References are read as the original program writes them: absolute paths below the root too. */
export function bodyIn<Form extends z.ZodObject>(form: Form, body: Given, root: string | null): z.output<Form> {
  const asItems = Object.fromEntries(
    Object.entries(body).map(([field, value]) => [field, /^_?crossRefs$/.test(field) ? itemsIn(value, root) : value]),
  )
  return readWhole(form, asItems, { subject: 'The body', noun: 'the body of this route' })
}

function itemsIn(refs: unknown, root: string | null): unknown {
  if (!Array.isArray(refs)) return refs
  return refs.map((ref) => (typeof ref === 'string' ? (itemPathIn(root, ref) ?? ref) : ref))
}
