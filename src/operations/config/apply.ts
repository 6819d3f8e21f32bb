import { createHash } from 'node:crypto'
import { z } from 'zod'
import { applyConfig } from '../../store/apply-config.ts'
import type { ConfigApplied, ConfigQueue, ConfigSchedule, ConfigToken, NewConfig } from '../../store/change.ts'
import { configApplied, listConfigs } from '../../store/reads/config.ts'
import type { OperationContext } from '../context.ts'
import { type FieldChange, fieldChange, fieldChanges } from '../field-changes.ts'
import { isoText } from '../instant.ts'
import { onlyGiven } from '../only-given.ts'
import { type Doors, operation } from '../operation.ts'
import { advice, instantSaid, outputOf, text } from '../output.ts'
import { inWordsOf, quoted, refuse } from '../problem.ts'
import { scheduleInWords } from '../schedule/in-words.ts'
import { definitionOf } from '../schedule/view.ts'
import { documentShape, type ReadDocument, readDocument, unsaidQueues } from './document.ts'

/** What became of one thing that the file names, or named. */
export interface ConfigPart<Answer extends string> {
  readonly name: string
  readonly answer: Answer
  readonly changes: readonly FieldChange[]
}

export interface ConfigWritten {
  /**
   * `unchanged`: all was as the file says. `current` and `older` are answers to whoever asked for new content only: the
   * source has this content, or had it before it got what it has now.
   */
  readonly answer: 'applied' | 'unchanged' | 'current' | 'older'
  readonly source: string
  /** When the source got this content before, where that is the answer. */
  readonly appliedAt: number | null
  readonly queues: readonly ConfigPart<ConfigQueue['answer']>[]
  readonly schedules: readonly (ConfigPart<ConfigSchedule['answer']> & { readonly inWords: string | null })[]
  readonly tokens: readonly ConfigPart<ConfigToken['answer']>[]
  /** What somebody may want to know besides. */
  readonly notes: readonly string[]
}

const parts = <const Answers extends readonly [string, ...string[]]>(answers: Answers) => ({
  name: text('Its name.'),
  answer: z.enum(answers).describe('What came of it.'),
  changes: z.array(fieldChange).describe('What is other than before, field by field.'),
})

const configWritten = outputOf<ConfigWritten>()(
  z.strictObject({
    answer: z
      .enum(['applied', 'unchanged', 'current', 'older'])
      .describe('What came of it; current and older are answers to whoever asked for new content only.'),
    source: text('The source of the file.'),
    appliedAt: instantSaid('When the source got this content before, where that is the answer.').nullable(),
    queues: z
      .array(z.strictObject(parts(['created', 'updated', 'unchanged', 'left'])))
      .describe('Queues; one that is left is no longer looked after, and stays as it is.'),
    schedules: z
      .array(
        z.strictObject({
          ...parts(['created', 'updated', 'unchanged', 'deleted']),
          inWords: text('What it says, in a few sentences; null where it was deleted.').nullable(),
        }),
      )
      .describe('Schedules.'),
    tokens: z
      .array(z.strictObject(parts(['set', 'unchanged', 'absent', 'left'])))
      .describe('Tokens; one that is absent gets its scope when somebody makes it.'),
    notes: z.array(advice()).describe('What somebody may want to know besides.'),
  }),
)

const doors: Doors = {
  library: true,
  cli: 'A file is read by `belfry apply`, which calls it.',
  http: true,
  mcp: 'A model writes schedules one by one; a whole file is for whoever looks after it.',
}

export const apply = operation({
  noun: 'config',
  verb: 'apply',
  says: 'Makes what a source looks after be as its file says, all of it or nothing; says what changed.',
  request: 'a configuration',
  effect: 'destructive',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({
    ...documentShape,
    file: z.string().min(1).max(4_096).describe('Where the file lies, for people.').optional(),
    yes: z
      .boolean()
      .describe('Whether it may delete more than half of what its source made. Default: false.')
      .optional(),
    adopt: z
      .boolean()
      .describe('Whether it takes over schedules that were made by hand and say something else. Default: false.')
      .optional(),
    onlyNew: z
      .boolean()
      .describe('Whether content that the source has, or had before, is left alone. Default: false.')
      .optional(),
  }),
  takes: [],
  output: configWritten,
  errors: ['invalid', 'conflict'],
  doors,
  examples: [
    {
      source: 'ops',
      queues: { mail: { maxConcurrent: 2 } },
      schedules: { nightly: { cron: '0 2 * * *', zone: 'Europe/Paris', target: { handler: 'report' } } },
      tokens: { ci: 'operate' },
    },
  ],
  async judge(context, reading) {
    const { value, problems: found } = reading
    const read = await readDocument(context, value)
    const subject = value.source === undefined ? 'The configuration' : `The configuration of ${quoted(value.source)}`
    refuse(subject, [...found, ...read.problems])
    const {
      source,
      queues,
      schedules,
      tokens,
      file = 'a request',
      yes,
      adopt,
    } = value as typeof value & { source: string }
    const hashes = hashesOf({ source, queues, schedules, tokens }, read)
    const known = value.onlyNew === true ? await knownContent(context, source, hashes) : null
    if (known !== null) return { ...known, source, queues: [], schedules: [], tokens: [], notes: [] }
    const config = { source, ...hashes, file, queues: read.queues, schedules: read.schedules, tokens: read.tokens }
    const applied = await inWordsOf(
      subject,
      (problem) => problem,
      () => context.store.do(applyConfig, config, { actor: context.actor, ...onlyGiven({ yes, adopt }) }),
    )
    return { ...writtenOf(source, applied), notes: notesOf(read, applied) }
  },
})

type Hashes = Required<Pick<NewConfig, 'hash' | 'placedHash'>>

function hashesOf(content: object, read: Pick<ReadDocument, 'schedules'>): Hashes {
  const hash = contentHash(content)
  const targets = Object.fromEntries(read.schedules.map(({ name, target }) => [name, target]))
  return { hash, placedHash: contentHash({ hash, targets }) }
}

/** Of what is said, not of how: spaces, comments and the order of names make no other content. */
function contentHash(content: object): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(content)))
    .digest('hex')
}

/** The same with its fields in one order, whatever order they were written in. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]))
}

/**
 * What the source has or had. What it has is new all the same in a folder where it never lay: a release that is unpacked
 * beside the one before would else go on with the programs of a folder that is deleted next.
 */
async function knownContent({ store }: OperationContext, source: string, { hash, placedHash }: Hashes) {
  const appliedAt = await store.look(configApplied, source, hash)
  if (appliedAt === null) return null
  const newest = (await store.look(listConfigs)).find((each) => each.source === source)
  if (newest?.hash !== hash) return { answer: 'older' as const, appliedAt }
  return (await store.look(configApplied, source, placedHash)) === null
    ? null
    : { answer: 'current' as const, appliedAt }
}

function writtenOf(source: string, { queues, schedules, tokens }: ConfigApplied): Omit<ConfigWritten, 'notes'> {
  const isChanged = [...queues, ...schedules, ...tokens].some(
    ({ answer }) => answer !== 'unchanged' && answer !== 'absent',
  )
  return {
    answer: isChanged ? 'applied' : 'unchanged',
    source,
    appliedAt: null,
    queues: queues.map(({ name, answer, before, after }) => ({
      name,
      answer,
      changes: fieldChanges(queueFields(before), queueFields(after)),
    })),
    schedules: schedules.map(({ name, answer, before, after }) => ({
      name,
      answer,
      changes: answer === 'updated' ? fieldChanges(fieldsOf(before), fieldsOf(after)) : [],
      inWords: after === null ? null : scheduleInWords(definitionOf(after)),
    })),
    tokens: tokens.map(({ name, answer, scope, was }) => ({
      name,
      answer,
      changes: fieldChanges(was === null ? {} : { scope: was }, { scope }),
    })),
  }
}

/** What is said of a queue: its policy, and where somebody is told. */
function queueFields(queue: ConfigQueue['after']): object {
  return { ...queue?.policy, ...queue?.notify }
}

/** What a schedule says, its instants as people write them. */
function fieldsOf(spec: ConfigSchedule['after']): object {
  if (spec === null) return {}
  const { at, startAt, endAt, ...rest } = definitionOf(spec)
  const instants = Object.entries({ at, startAt, endAt }).flatMap(([field, ms]) =>
    ms === undefined ? [] : [[field, isoText(ms)] as const],
  )
  return { ...rest, ...Object.fromEntries(instants) }
}

function notesOf(read: Parameters<typeof unsaidQueues>[0], { queues, schedules, tokens }: ConfigApplied): string[] {
  const left = queues.filter(({ answer }) => answer === 'left').map(({ name }) => name)
  const absent = tokens.filter(({ answer }) => answer === 'absent').map(({ name }) => name)
  const unsaid = unsaidQueues(read)
  const taken = schedules.filter(({ isTakenOver }) => isTakenOver === true).map(({ name }) => name)
  return [
    ...taken.map(
      (name) =>
        `Schedule ${name} was made by hand: the file looks after it now, and deletes it once it no longer names it.`,
    ),
    ...left.map((name) => `Queue ${name} is no longer looked after, and stays as it is: work may be in it.`),
    ...absent.map((name) => `Nobody has made token ${name} yet: belfry token create ${name}`),
    ...unsaid.map(
      (name) => `The file says nothing of queue ${name}: it is made with a ceiling of 1 where it is not there.`,
    ),
  ]
}
