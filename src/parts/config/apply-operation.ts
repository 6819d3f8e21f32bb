import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { AddedToConfig, StoredFields } from '../../core/added.ts'
import { isRecord } from '../../core/json/record.ts'
import { type EntryWritten, entryOutput } from '../../operations/config-section.ts'
import { featuresIn } from '../../operations/feature-list.ts'
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

/** The results for the entries of each section. */
interface SectionsWritten {
  readonly queues: readonly (EntryWritten & Pick<QueueApplied, 'answer'>)[]
  readonly schedules: readonly ScheduleWritten[]
  readonly tokens: readonly (EntryWritten & Pick<TokenApplied, 'answer'>)[]
}

export interface ConfigWritten extends SectionsWritten, StoredFields<AddedToConfig> {
  /** `unchanged`: the store already matched the file. With `onlyNew`, `current`: the source has this content now; `older`: it had this content before its current one. */
  readonly answer: 'applied' | 'unchanged' | 'current' | 'older'
  readonly source: string
  /** With `older`: when the source last had this content. */
  readonly appliedAt: number | null
  readonly notes: readonly string[]
}

const configWritten = outputOf<ConfigWritten>()(
  openOutput('config', {
    answer: z
      .enum(['applied', 'unchanged', 'current', 'older'])
      .describe('The result; current and older only with onlyNew.'),
    source: text('The source of the file.'),
    appliedAt: instantOutput('With older: when the source last had this content.').nullable(),
    queues: z
      .array(z.strictObject(entryOutput(['created', 'updated', 'unchanged', 'left'])))
      .describe('Queues; left: no longer managed by a file, and unchanged.'),
    schedules: z
      .array(
        z.strictObject({
          ...entryOutput(['created', 'updated', 'unchanged', 'deleted']),
          inWords: text('The schedule in a few sentences; null: it was deleted.').nullable(),
        }),
      )
      .describe('Schedules.'),
    tokens: z
      .array(z.strictObject(entryOutput(['set', 'unchanged', 'absent', 'left'])))
      .describe('Tokens; absent: the token gets its scope when it is created.'),
    notes: z.array(advice()).describe('Notes.'),
  }),
)

const doors: Doors = {
  library: true,
  cli: 'Use `belfry apply`, which reads a file and calls this.',
  http: true,
  mcp: 'A model writes schedules one by one; only a person applies a whole file.',
}

export const apply = operation({
  noun: 'config',
  verb: 'apply',
  persons: true,
  says: 'Apply the configuration of a source, all or nothing, and answer what changed.',
  request: 'a configuration',
  effect: 'destructive',
  scope: 'admin',
  rehearses: true,
  input: openInput('config', {
    ...documentShape,
    file: z.string().min(1).max(fileLengthMax).describe('The path of the file, shown to people.').optional(),
    yes: z.boolean().describe('Allow deleting more than half of what its source created. Default: false.').optional(),
    adopt: z
      .boolean()
      .describe('Take over schedules that were created by hand with other fields. Default: false.')
      .optional(),
    onlyNew: z
      .boolean()
      .describe('Do nothing for content that the source has, or had before. Default: false.')
      .optional(),
  }),
  takes: [],
  output: configWritten,
  errors: ['invalid', 'conflict', 'quota'],
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
    const ofFeatures = featuresIn(value.features ?? '', 'features').problems
    refuse(subject, [...problems, ...ofFeatures, ...read.problems])
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
    const sorted = applied as unknown as Applied
    if (!context.store.isRehearsal) for (const section of sections) section.committed?.(sorted[section.name] ?? [])
    return writtenOf(context, { source, read, applied: sorted })
  },
})

type Applied = Readonly<Record<string, readonly AppliedEntry[]>>
type Hashes = Required<Pick<NewConfig, 'hash' | 'placedHash'>>

function hashesOf({ sections }: OperationContext, content: object, { entries }: ReadDocument): Hashes {
  const hash = contentHash(content)
  const placed = sectionsWith(sections).map((section) => section.placed?.(entries[section.name] ?? []) ?? {})
  return { hash, placedHash: contentHash({ hash, targets: Object.assign({}, ...placed) }) }
}

/** The hash of the content, not of the text: spaces, comments and the order of names do not count. */
function contentHash(content: object): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(content)))
    .digest('hex')
}

/** The same value with its fields in one order. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]))
}

/**
 * Whether the source has or had this content. The same content in another folder counts as new: otherwise a release that is
 * unpacked beside the previous one would keep the programs of a folder that is about to be deleted.
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
        (name) => `The file does not define queue ${name}: if it does not exist, it is created with a ceiling of 1.`,
      ),
    ],
  }
}

function isChange({ answer }: AppliedEntry): boolean {
  return answer !== 'unchanged' && answer !== 'absent'
}

/** All entries with their results, each with the noun of its section. */
export function entriesOf(written: ConfigWritten): (EntryWritten & { readonly noun: string })[] {
  const { answer: _, source, appliedAt, notes, ...sections } = written
  return Object.entries(sections as unknown as Readonly<Record<string, readonly EntryWritten[]>>).flatMap(
    ([name, entries]) => entries.map((entry) => ({ ...entry, noun: name.replace(/s$/, '') })),
  )
}
