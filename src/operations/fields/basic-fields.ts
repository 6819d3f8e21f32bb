import { z } from 'zod'
import { isKnownZone } from '../../core/cron/zone-name.ts'
import { keyLengthMax, nameLengthMax } from '../../core/field-table.ts'
import { parseId } from '../../core/id.ts'
import { priorityDefault, priorityMax } from '../../core/run/work-fields.ts'
import { noted } from '../schema/schema-note.ts'

const reasonLengthMax = 2_000
const pageMax = 1_000

/** Text that both databases store unchanged: PostgreSQL refuses NUL, and half a surrogate pair would be replaced. */
function isKeepable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Fields that many inputs share. A name that begins with a dash could not be typed at a command line. */
export const name = noted(
  z
    .string()
    .min(1)
    .max(nameLengthMax)
    .refine((text) => !text.startsWith('-') && isKeepable(text)),
  { expected: `a text of 1 to ${nameLengthMax} characters that does not begin with a dash` },
)
/** The name of something new. URL parsers drop `.` and `..` as path segments, even percent-encoded, so such a name could not be read over HTTP. */
export const newName = noted(
  z
    .string()
    .min(1)
    .max(nameLengthMax)
    .refine((text) => !text.startsWith('-') && text !== '.' && text !== '..' && isKeepable(text)),
  {
    expected: `a text of 1 to ${nameLengthMax} characters that does not begin with a dash, and is neither . nor .., which no URL can contain`,
  },
)
export const scheduleName = name.describe('The name of the schedule.')
export const queueName = name.describe('The name of the queue.')
export const scheduleId = noted(
  z.string().refine((id) => parseId('schedule', id) !== null),
  { expected: 'the id of a schedule as the schedule shows it, such as s-15' },
)
export const runId = noted(
  z.string().refine((id) => parseId('run', id) !== null),
  { expected: 'the id of a run as the list of runs shows it, such as r-15' },
).describe('The id of the run.')
export const zone = noted(z.string().refine(isKnownZone), {
  expected: 'the name of an IANA zone, such as Europe/Paris',
})
export const key = noted(z.string().min(1).max(keyLengthMax).refine(isKeepable), {
  expected: `a text of 1 to ${keyLengthMax} characters without NUL and half surrogates`,
})
export const reason = z.string().min(1).max(reasonLengthMax).describe('The reason, for the audit log.')
export const priority = z
  .int()
  .min(-priorityMax)
  .max(priorityMax)
  .describe(`Lower goes first. Default: ${priorityDefault}.`)
/** The default page size. */
export const limitDefault = 100
export const limit = z.int().min(1).max(pageMax).describe(limitWords(limitDefault))
/** A page of a list that is in the order of names. */
export const pageByName = {
  after: z.string().describe('The last name of the previous page.').optional(),
  limit: limit.optional(),
}
/** Any JSON value; whether it is valid JSON is checked once, with its path. */
export const payload = z.unknown().describe('What the target receives: any JSON of at most 256 KB.')
/** A function, so that a door with shorter pages can use the same words. */
export function limitWords(count: number): string {
  return `How many at most. Default: ${count}.`
}
