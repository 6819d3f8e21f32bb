import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { AddedToConfig, StoredFields } from '../../core/added.ts'
import { isRecord } from '../../core/json/record.ts'
import { type EntryWritten, entryOutput } from '../../operations/config-section.ts'
import { openInput, openOutput } from '../../operations/fields/added-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { inWordsOf, quoted, refuse } from '../../operations/input/refuse-input.ts'
import { type Doors, operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { advice, instantOutput, outputOf, text } from '../../operations/schema/output-schema.ts'
import type { AppliedEntry } from '../../store/section.ts'
import { applyConfig, type NewConfig } from './apply-config.ts'
import {
  documentShape,
  type ReadDocument,
  readDocument,
  type Sections,
  sectionsWith,
  unsaidQueues,
} from './config-document.ts'
import { configApplied, fileLengthMax, listConfigs } from './read-configs.ts'
import type { QueueApplied } from './sections/queues-section.ts'
import type { ScheduleWritten } from './sections/schedules-section.ts'
import type { TokenApplied } from './sections/token-scopes-section.ts'

/** What became of the entries of each section. */
interface SectionsWritten {
  readonly queues: readonly (EntryWritten & Pick<QueueApplied, 'answer'>)[]
  readonly schedules: readonly ScheduleWritten[]
  readonly tokens: readonly (EntryWritten & Pick<TokenApplied, 'answer'>)[]
}

export interface ConfigWritten extends SectionsWritten, StoredFields<AddedToConfig> {
  /**
   * `unchanged`: all was as the file says. `current` and `older` are answers to a request for new content only: the source has
   * this content, or had it before it got what it has now.
   */
  readonly answer: 'applied' | 'unchanged' | 'current' | 'older'
  readonly source: string
  /** When the source got this content before, where that is the answer. */
  readonly appliedAt: number | null
  /** What a person may want to know besides. */
  readonly notes: readonly string[]
}

const configWritten = outputOf<ConfigWritten>()(
  openOutput('config', {
    answer: z
      .enum(['applied', 'unchanged', 'current', 'older'])
      .describe('What came of it; current and older are answers to a request for new content only.'),
    source: text('The source of the file.'),
    appliedAt: instantOutput('When the source got this content before, where that is the answer.').nullable(),
    queues: z
      .array(z.strictObject(entryOutput(['created', 'updated', 'unchanged', 'left'])))
      .describe('Queues; one that is left is no longer looked after, and stays as it is.'),
    schedules: z
      .array(
        z.strictObject({
          ...entryOutput(['created', 'updated', 'unchanged', 'deleted']),
          inWords: text('What it says, in a few sentences; null where it was deleted.').nullable(),
        }),
      )
      .describe('Schedules.'),
    tokens: z
      .array(z.strictObject(entryOutput(['set', 'unchanged', 'absent', 'left'])))
      .describe('Tokens; one that is absent gets its scope when it is made.'),
    notes: z.array(advice()).describe('What a person may want to know besides.'),
  }),
)

const doors: Doors = {
  library: true,
  cli: 'A file is read by `belfry apply`, which calls it.',
  http: true,
  mcp: 'A model writes schedules one by one; a whole file is for the person who looks after it.',
}

export const apply = operation({
  noun: 'config',
  verb: 'apply',
  says: 'Makes what a source looks after be as its file says, all of it or nothing; says what changed.',
  request: 'a configuration',
  effect: 'destructive',
  scope: 'admin',
  rehearses: true,
  input: openInput('config', {
    ...documentShape,
    file: z.string().min(1).max(fileLengthMax).describe('Where the file lies, for people.').optional(),
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
  async judge(context, { value, problems }) {
    const sections = sectionsWith(context.sections)
    const given = value as Sections
    const document = Object.fromEntries(sections.map(({ name }) => [name, given[name]]))
    const read = await readDocument(context, document)
    const subject = value.source === undefined ? 'The configuration' : `The configuration of ${quoted(value.source)}`
    refuse(subject, [...problems, ...read.problems])
    const { file = 'a request', yes, adopt, onlyNew } = value
    const source = value.source as string
    const hashes = hashesOf(context, { source, ...document }, read)
    const known = onlyNew === true ? await knownContent(context, source, hashes) : null
    if (known !== null) return { ...known, source, queues: [], schedules: [], tokens: [], notes: [] }
    const config = { source, ...hashes, file, ...read.entries } as unknown as NewConfig
    const options = { actor: context.actor, ...onlyGiven({ yes, adopt }) }
    const applied = await inWordsOf(
      subject,
      (problem) => problem,
      () => context.store.do(applyConfig, config, options, sections),
    )
    return writtenOf(context, { source, read, applied: applied as unknown as Applied })
  },
})

type Applied = Readonly<Record<string, readonly AppliedEntry[]>>
type Hashes = Required<Pick<NewConfig, 'hash' | 'placedHash'>>

function hashesOf({ sections }: OperationContext, content: object, { entries }: ReadDocument): Hashes {
  const hash = contentHash(content)
  const placed = sectionsWith(sections).map((section) => section.placed?.(entries[section.name] ?? []) ?? {})
  return { hash, placedHash: contentHash({ hash, targets: Object.assign({}, ...placed) }) }
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
  if (!isRecord(value)) return value
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

interface AppliedConfig {
  readonly source: string
  readonly read: ReadDocument
  readonly applied: Applied
}

function writtenOf(context: OperationContext, { source, read, applied }: AppliedConfig): ConfigWritten {
  const sections = sectionsWith(context.sections)
  const written = sections.map((section) => {
    const entries = (applied[section.name] ?? []).map((each) => section.written(each, context))
    return [section.name, entries] as const
  })
  return {
    answer: written.flatMap(([, entries]) => entries).some(isChange) ? 'applied' : 'unchanged',
    source,
    appliedAt: null,
    ...(Object.fromEntries(written) as unknown as SectionsWritten),
    notes: [
      ...sections.flatMap((section) => section.notes?.(applied[section.name] ?? []) ?? []),
      ...unsaidQueues(read).map(
        (name) => `The file says nothing of queue ${name}: it is made with a ceiling of 1 where it is not there.`,
      ),
    ],
  }
}

function isChange({ answer }: AppliedEntry): boolean {
  return answer !== 'unchanged' && answer !== 'absent'
}

/** What became of all entries, each with the noun of its section. */
export function entriesOf(written: ConfigWritten): (EntryWritten & { readonly noun: string })[] {
  const { answer: _, source, appliedAt, notes, ...sections } = written
  return Object.entries(sections as unknown as Readonly<Record<string, readonly EntryWritten[]>>).flatMap(
    ([name, entries]) => entries.map((entry) => ({ ...entry, noun: name.replace(/s$/, '') })),
  )
}
