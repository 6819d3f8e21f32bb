import { z } from 'zod'
import { name } from '../../operations/fields/basic-fields.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { clockNow } from '../../store/statement.ts'
import { bringIn } from './bring-in.ts'
import { draftOfCronicorn } from './cronicorn.ts'
import { nothing } from './draft.ts'
import { imported, partial } from './imported.ts'

const queueDefault = 'default'
const textLengthMax = 100_000_000

export const importCronicorn = operation({
  noun: 'store',
  verb: 'importCronicorn',
  begins: true,
  isOk: ({ ok }) => ok,
  command: ['import', 'cronicorn'],
  says: 'Import jobs and endpoints of Cronicorn as groups and schedules; what is not supported is listed.',
  request: 'an import of jobs and endpoints',
  effect: 'write',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({
    text: noted(z.string().max(textLengthMax), {
      file: 'cronicorn.json',
      expected: 'the text of a JSON object with the list jobs',
    }).describe(
      'The text of a JSON object with jobs, and their endpoints in them or beside them, as its API shows them.',
    ),
    queue: name.describe(`The queue of the calls. Default: ${queueDefault}.`).optional(),
    partial,
  }),
  takes: ['text'],
  output: imported,
  errors: ['invalid', 'conflict', 'quota'],
  persons: true,
  doors: { ...everyDoor, mcp: 'A file with forty endpoints is for a person to read before it is imported.' },
  show: { load: async () => (await import('./show.ts')).showImported },
  examples: [
    {
      text: '{"jobs":[{"name":"checkout","description":"Flash sales.","endpoints":[{"name":"depth","url":"https://example.org/queue","baselineIntervalMs":300000,"minIntervalMs":15000,"maxIntervalMs":900000}]}]}',
    },
  ],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const { text, queue = queueDefault } = value
    const now = await context.store.look(clockNow)
    const reading = { queue, now, kinds: context.kinds, problems }
    const draft = text === undefined ? nothing : draftOfCronicorn(text, reading)
    refuse('The import', problems)
    return bringIn(context, draft, {
      queue,
      reason: 'imported from Cronicorn',
      hint: 'Rename or delete the existing schedules, or leave these endpoints out.',
      isPartial: value.partial === true,
    })
  },
})
