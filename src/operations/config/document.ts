import { z } from 'zod'
import type { Notify } from '../../core/notice.ts'
import { defaultPolicy, defaultQueue } from '../../core/policy.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import type { NewConfig, NewConfigQueue } from '../../store/change.ts'
import { findSchedule } from '../../store/reads/schedule.ts'
import { clockNow } from '../../store/statement.ts'
import type { OperationContext } from '../context.ts'
import { name as nameForm, queueName, scheduleName } from '../fields.ts'
import { type Reading, read } from '../input.ts'
import { isListenAddress, listenExpected } from '../listen-address.ts'
import { noted } from '../note.ts'
import { type Scope, scopes } from '../operation.ts'
import { type Problem, problemsMax } from '../problem.ts'
import { policyFaults, policyInput, readPolicy } from '../queue/policy-input.ts'
import { scheduleShape } from '../schedule/input.ts'
import { readSchedule } from '../schedule/read.ts'
import { problemsOf } from '../schedule/words.ts'

const section = (says: string) => z.record(z.string(), z.unknown()).describe(says).optional()

/** What a file says, part by part. What lies inside a part is read by the verb that takes it one by one. */
export const documentShape = {
  source: nameForm.describe(
    'Names whoever looks after what the file makes; it deletes only what the same source made.',
  ),
  queues: section('The policies of queues by their names; what is not said of one is as a new queue has it.'),
  schedules: section('Schedules by their names, each as it is created.'),
  tokens: section('What tokens may do, by their names: read, operate or admin.'),
  server: z
    .strictObject({
      listen: noted(z.string().refine(isListenAddress), { expected: listenExpected })
        .describe('Where the HTTP door is, or none. Default: 127.0.0.1:4747.')
        .optional(),
      behindProxy: z
        .boolean()
        .describe('Whether it listens beyond this machine too, for a proxy with TLS in front of it. Default: false.')
        .optional(),
      hosts: z.array(z.string().min(1)).readonly().describe('More hosts that requests may be addressed to.').optional(),
    })
    .describe('How a worker that reads the file serves HTTP; what is said where it is started goes before it.')
    .optional(),
}

/** A file as it is written. */
export type ConfigDocument = z.input<z.ZodObject<typeof documentShape>>

const policyForm = policyInput.omit({ name: true, ifVersion: true })
const scheduleForm = z.strictObject(scheduleShape)

export interface ReadDocument {
  readonly queues: NewConfig['queues']
  readonly schedules: readonly ScheduleSpec[]
  readonly tokens: NewConfig['tokens']
  readonly problems: readonly Problem[]
}

type Sections = Pick<ConfigDocument, 'queues' | 'schedules' | 'tokens'>

/** Reads all parts of a file, and tells what is wrong with any of them by its place in the file. */
export async function readDocument(context: OperationContext, parts: Sections): Promise<ReadDocument> {
  const problems: Problem[] = (['queues', 'schedules', 'tokens'] as const).flatMap((part) => tooMany(part, parts[part]))
  // They would keep everybody else waiting while they are read, let alone written.
  if (problems.length > 0) return { queues: [], schedules: [], tokens: [], problems }
  const now = await context.store.look(clockNow)
  const queues = await readEach('queues', { parts, problems }, (name, given) => queueOf(context, name, given, problems))
  const schedules = await readEach('schedules', { parts, problems }, (name, given) =>
    scheduleOf(context, { name, given, now, problems }),
  )
  const tokens = await readEach('tokens', { parts, problems }, (name, given) => ({
    name,
    scope: scopeOf(name, given, problems),
  }))
  return { queues, schedules, tokens, problems }
}

/** Reads the entries of a part until there is as much to tell as a refusal holds: what follows would be read for nobody. */
async function readEach<Read>(
  part: keyof Sections,
  { parts, problems }: { readonly parts: Sections; readonly problems: Problem[] },
  readOne: (name: string, given: unknown) => Read | Promise<Read>,
): Promise<Read[]> {
  const read: Read[] = []
  const entries = entriesOf(parts[part])
  for (const [name, given] of entries) {
    if (problems.length >= problemsMax) {
      const problem = `has ${entries.length - read.length} that were not read`
      // Behind a hundred others nobody would be told.
      problems.unshift({ field: part, problem, expected: 'what is wrong before them mended first' })
      break
    }
    read.push(await readOne(name, given))
  }
  return read
}

const entriesMax = 1_000

function tooMany(part: string, given: Readonly<Record<string, unknown>> | undefined): Problem[] {
  const { length } = entriesOf(given)
  const expected = `at most ${entriesMax}; another file with another source may have the rest`
  return length > entriesMax ? [{ field: part, problem: `has ${length} of them`, expected }] : []
}

function entriesOf(part: Readonly<Record<string, unknown>> | undefined): [string, unknown][] {
  return Object.entries(part ?? {})
}

/** Places a problem of one entry in the whole file: `schedules.nightly.cron`. */
function placed(part: string, name: string, problems: readonly Problem[]): Problem[] {
  return problems.map(({ field, ...rest }) => ({
    field: field === '' ? `${part}.${name}` : `${part}.${name}.${field}`,
    ...rest,
  }))
}

const nameForms = {
  queues: z.strictObject({ name: queueName }),
  schedules: z.strictObject({ name: scheduleName }),
  tokens: z.strictObject({ name: nameForm }),
}

function nameProblems(part: keyof typeof nameForms, name: string): Problem[] {
  const { problems } = read(nameForms[part], { name }, 'a name')
  return problems.map(({ problem, expected }) => ({ field: part, problem: `has a name that ${problem}`, expected }))
}

/** What an entry says; one that says nothing at all is an empty one. */
function readEntry<Form extends z.ZodObject>(form: Form, given: unknown, noun: string): Reading<z.output<Form>> {
  return read(form, given ?? {}, noun)
}

function queueOf(context: OperationContext, name: string, given: unknown, problems: Problem[]): NewConfigQueue {
  const reading = readEntry(policyForm, given, 'a policy')
  const read = readPolicy(reading as Reading<z.output<typeof policyInput>>, context)
  const { patch, notify } = read
  problems.push(...nameProblems('queues', name))
  problems.push(...placed('queues', name, policyFaults(read, defaultPolicy, reading.given)))
  return { name, policy: patch, ...(notify !== undefined && { notify: withoutNulls(notify) as Notify }) }
}

function withoutNulls(patch: object): object {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null))
}

interface Entry {
  readonly name: string
  readonly given: unknown
  readonly now: number
  readonly problems: Problem[]
}

async function scheduleOf(context: OperationContext, { name, given, now, problems }: Entry): Promise<ScheduleSpec> {
  const form = readEntry(scheduleForm, given, 'a schedule')
  const found = await context.store.look(findSchedule, name)
  const before = found !== null && found.deletedAt === null && found.spec.name === name ? found.spec : undefined
  // The zone of a schedule is resolved once and kept: another machine that applies the file does not move it.
  const zone = before?.timing.cron === undefined ? context.zone : before.timing.zone
  const reading = { given: { ...form.given, name }, value: { ...form.value, name }, problems: form.problems }
  const spec = readSchedule(reading, { folder: context.folder, zone })
  const own = nameProblems('schedules', name)
  problems.push(...own)
  const rest = problemsOf(spec, { now, before }).filter(({ field }) => field !== 'name' || own.length === 0)
  problems.push(...placed('schedules', name, rest))
  return spec.spec
}

/** `ci: operate`, or `ci: { scope: operate }`. */
function scopeOf(name: string, given: unknown, problems: Problem[]): Scope {
  problems.push(...nameProblems('tokens', name))
  const scope = typeof given === 'object' && given !== null ? (given as { readonly scope?: unknown }).scope : given
  const known = scopes.find((word) => word === scope)
  const others = typeof given === 'object' && given !== null ? Object.keys(given).filter((key) => key !== 'scope') : []
  if (known === undefined || others.length > 0) {
    const problem = others.length > 0 ? `has ${others.join(', ')} beside its scope` : 'says no scope'
    problems.push({ field: `tokens.${name}`, problem, expected: `one of ${scopes.join(', ')}` })
  }
  return known ?? 'read'
}

/** The queues that schedules name and the file says nothing of: they are made as queues are that work names by chance. */
export function unsaidQueues({ queues, schedules }: Pick<ReadDocument, 'queues' | 'schedules'>): string[] {
  const said = new Set(queues.map(({ name }) => name))
  const named = new Set(schedules.map(({ queue = defaultQueue }) => queue))
  return [...named].filter((queue) => !said.has(queue) && queue !== defaultQueue).sort()
}
