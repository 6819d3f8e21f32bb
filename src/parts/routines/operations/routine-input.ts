import { z } from 'zod'
import { type Match, matchProblems } from '../../../core/json/matcher.ts'
import { isRecord } from '../../../core/json/record.ts'
import { isSecretName, secretNameExpected } from '../../../core/secret-name.ts'
import { withAdded } from '../../../operations/fields/added-fields.ts'
import { name, newName, payload } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { type Reading, read } from '../../../operations/input/read-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import type { Reader } from '../../../operations/operation-context.ts'
import { readRun, runInput } from '../../../operations/run/run-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { secretForm } from '../../../operations/target/target-form.ts'
import type { RoutineRun, RoutineSpec, Signing } from '../routine-spec.ts'

const descriptionLengthMax = 10_000
const typesMax = 50

export const routineName = name.describe('The name of the routine.')
export const eventType = name.describe('The type of the event, such as push.')

/** Keys and instants belong to a single run, so they are not among the fields for many. */
const runForm = noted(
  runInput
    .omit({ notBefore: true, deadline: true, idempotencyKey: true, traceparent: true })
    .extend({ payload: payload.describe('Data that its runs receive beside the event, under given.').optional() }),
  { open: { to: 'run', as: 'input' } },
)

const matchForm = z
  .record(z.string(), z.unknown())
  .describe('The rule for a path: a value, or one of equals, in, matches and exists.')

/** Checked by the pure matcher. */
const match = noted(z.unknown(), { form: matchForm }).describe(
  'The values that the payload must have at these paths: { "ref": "refs/heads/main", "repository.name": { "in": ["a", "b"] } }. Default: any payload.',
) as unknown as z.ZodType<unknown, Match>

export const signingStyles = ['standard', 'github'] as const

const signing = z
  .strictObject({
    style: z.enum(signingStyles).describe('The signing scheme: Standard Webhooks or GitHub.'),
    secret: noted(z.unknown(), { form: secretForm }).describe(
      'The name of the secret: { "secret": "NAME" }; its value is read for each delivery, and never stored.',
    ) as unknown as z.ZodType<unknown, Signing['secret']>,
  })
  .describe('How its webhooks at /hooks/NAME are signed. Default: it takes no webhooks.')

export const routineInput = z.strictObject({
  name: newName.describe('The name of the routine.'),
  description: z.string().min(1).max(descriptionLengthMax).describe('What it is for.').optional(),
  type: z
    .array(eventType)
    .min(1)
    .max(typesMax)
    .readonly()
    .describe('The event types that it takes. Default: every type.')
    .optional(),
  match: match.optional(),
  schedule: name.describe('The schedule to fire. Give either schedule or run.').optional(),
  run: runForm.describe('The run to enqueue. Give either schedule or run.').optional(),
  signing: signing.optional(),
  enabled: z.boolean().describe('Whether it takes events at once. Default: true.').optional(),
})

export type RoutineInput = z.input<typeof routineInput>

export interface ReadRoutine {
  readonly spec: RoutineSpec
  readonly problems: readonly Problem[]
}

/** Reads a routine input into its stored form. */
export function readRoutine(reading: Reading<z.output<typeof routineInput>>, around: Reader): ReadRoutine {
  const { value, given } = reading
  const { run, problems: ofRun } = readRunOf(reading, around)
  const problems = [
    ...reading.problems.filter(({ field }) => !field.startsWith('run.')),
    ...actionProblems(given),
    ...(value.match === undefined ? [] : matchProblems(value.match)),
    ...ofRun,
    ...secretProblems(given.signing),
  ]
  const { description, type, schedule } = value
  const spec = { description, type, match: value.match as Match | undefined, schedule, run, signing: value.signing }
  return { spec: onlyGiven(spec) as RoutineSpec, problems }
}

/** An invalid run is read on its own, so that all its problems are reported at once. */
function readRunOf(
  { value, given, problems: found }: Reading<z.output<typeof routineInput>>,
  around: Reader,
): { run: RoutineRun | undefined; problems: Problem[] } {
  if (!isRecord(given.run)) return { run: undefined, problems: [] }
  const isSound = value.run !== undefined && !found.some(({ field }) => field.startsWith('run.'))
  const reading = isSound
    ? { value: value.run ?? {}, problems: [] }
    : read(withAdded(runForm, around.fields ?? {}), given.run, 'the run of a routine')
  const { run, problems } = readRun(reading, around)
  return { run, problems: problems.map((problem) => ({ ...problem, field: `run.${problem.field}` })) }
}

function actionProblems({ schedule, run }: Readonly<Record<string, unknown>>): Problem[] {
  if (schedule !== undefined && run !== undefined) {
    return [{ field: 'run', problem: 'is given beside `schedule`', expected: 'only one of the two' }]
  }
  if (schedule !== undefined || run !== undefined) return []
  const expected = 'the name of a schedule to fire, or `run` with the run to enqueue'
  return [{ field: 'schedule', problem: 'is missing', expected }]
}

/** The value is never shown: it may be the secret itself, in the wrong place. */
function secretProblems(signing: unknown): Problem[] {
  if (!isRecord(signing)) return []
  const { secret: named, ...others } = isRecord(signing.secret) ? signing.secret : {}
  if (named === undefined || Object.keys(others).length > 0) {
    return [{ field: 'signing.secret', problem: 'is not a reference to a secret', expected: '{ "secret": "NAME" }' }]
  }
  if (isSecretName(named)) return []
  return [{ field: 'signing.secret.secret', problem: 'is not the name of a secret', expected: secretNameExpected }]
}
