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

/** What a single run says for itself has no place in what many are made after. */
const runForm = noted(
  runInput
    .omit({ notBefore: true, deadline: true, idempotencyKey: true, traceparent: true })
    .extend({ payload: payload.describe('What its runs are handed beside the event, under given.').optional() }),
  { open: { to: 'run', as: 'input' } },
)

const matchForm = z
  .record(z.string(), z.unknown())
  .describe('What must be at a path: a value, or one of equals, in, matches and exists.')

/** Looked at by the pure matcher, which knows what its rules must be. */
const match = noted(z.unknown(), { form: matchForm }).describe(
  'What the payload must have at these paths: { "ref": "refs/heads/main", "repository.name": { "in": ["a", "b"] } }. Default: anything.',
) as unknown as z.ZodType<unknown, Match>

export const signingStyles = ['standard', 'github'] as const

const signing = z
  .strictObject({
    style: z.enum(signingStyles).describe('As Standard Webhooks say, or as GitHub does.'),
    secret: noted(z.unknown(), { form: secretForm }).describe(
      'The secret by its name: { "secret": "NAME" }; it is read when a delivery comes, and never stored.',
    ) as unknown as z.ZodType<unknown, Signing['secret']>,
  })
  .describe('How the webhooks are signed that it takes at /hooks/NAME. Default: it takes none.')

export const routineInput = z.strictObject({
  name: newName.describe('The name of the routine.'),
  description: z.string().min(1).max(descriptionLengthMax).describe('What it is for.').optional(),
  type: z.array(eventType).min(1).max(typesMax).readonly().describe('The types of events that it takes.').optional(),
  match: match.optional(),
  schedule: name.describe('The schedule that it fires. One of schedule and run is given.').optional(),
  run: runForm.describe('The run that it enqueues. One of schedule and run is given.').optional(),
  signing: signing.optional(),
  enabled: z.boolean().describe('Whether it takes events at once. Default: true.').optional(),
})

/** A routine as people write it. */
export type RoutineInput = z.input<typeof routineInput>

export interface ReadRoutine {
  readonly spec: RoutineSpec
  readonly problems: readonly Problem[]
}

/** Reads a routine as people write it into the one that is stored. */
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

/** Where it is not sound it is read for itself, so that all that is wrong with it is told at once. */
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
  const expected = 'the name of a schedule that it fires, or `run` with the run that it enqueues'
  return [{ field: 'schedule', problem: 'is missing', expected }]
}

/** What stands there is never shown: it may be the secret itself, in the wrong place. */
function secretProblems(signing: unknown): Problem[] {
  if (!isRecord(signing)) return []
  const { secret: named, ...others } = isRecord(signing.secret) ? signing.secret : {}
  if (named === undefined || Object.keys(others).length > 0) {
    return [{ field: 'signing.secret', problem: 'is no reference to a secret', expected: '{ "secret": "NAME" }' }]
  }
  if (isSecretName(named)) return []
  return [{ field: 'signing.secret.secret', problem: 'is no name of a secret', expected: secretNameExpected }]
}
