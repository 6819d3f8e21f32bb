import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import { defaultQueue } from '../../core/queue/policy.ts'
import { type AnySection, sectionInput } from '../../operations/config-section.ts'
import { name } from '../../operations/fields/basic-fields.ts'
import { isListenAddress, listenExpected } from '../../operations/input/listen-address.ts'
import { read } from '../../operations/input/read-input.ts'
import { type Problem, problemsMax } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { kindsInStore } from '../../operations/target/kinds-in-store.ts'
import { type QueueEntry, queues } from './sections/queues-section.ts'
import { schedules } from './sections/schedules-section.ts'
import { tokens } from './sections/token-scopes-section.ts'

/** The fields of a file besides its sections, and the sections that need no other part. */
export const documentShape = {
  source: name.describe('The name of this source; the file manages, and deletes, only what the same source created.'),
  queues: sectionInput(queues).optional(),
  schedules: sectionInput(schedules).optional(),
  tokens: sectionInput(tokens).optional(),
  server: z
    .strictObject({
      listen: noted(z.string().refine(isListenAddress), { expected: listenExpected })
        .describe('Serve HTTP at this address, or none. Default: 127.0.0.1:4747.')
        .optional(),
      behindProxy: z
        .boolean()
        .describe('Allow an address that other machines can reach, for a proxy with TLS in front. Default: false.')
        .optional(),
      hosts: z.array(z.string().min(1)).readonly().describe('Accept these Host headers too.').optional(),
    })
    .describe('How a worker that reads the file serves HTTP; its flags take precedence.')
    .optional(),
  features: z
    .union([z.string(), z.array(z.string()).readonly()])
    .describe('What commands and workers beside the file leave out when they start, such as -agents,-command.')
    .optional(),
}

/** The sections in the order in which they are applied: what a queue or schedule names is created before it. */
export function sectionsWith(others: readonly AnySection[]): readonly AnySection[] {
  const first = others.filter(({ isFirst }) => isFirst === true)
  return [...first, queues, ...others.filter((section) => !first.includes(section)), schedules, tokens]
}

export type Sections = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>

interface Entry {
  readonly name: string
}

export interface ReadDocument {
  readonly entries: Readonly<Record<string, readonly Entry[]>>
  readonly problems: readonly Problem[]
}

/** Reads all sections of a file, and reports every problem by its path in the file. */
export async function readDocument(context: OperationContext, document: Sections): Promise<ReadDocument> {
  const sections = sectionsWith(context.sections)
  const problems = sections.flatMap((section) => tooMany(section, document))
  // More entries than this would block all other work while they are read and written.
  if (problems.length > 0) return { entries: {}, problems }
  const targets = sections.flatMap((section) => {
    const { targets: own = ownTarget } = section
    return entriesIn(section, document).flatMap(([, entry]) => own(entry))
  })
  const within = { ...context, kinds: await kindsInStore(context, targets, document) }
  const entries: Record<string, readonly Entry[]> = {}
  for (const section of sections) entries[section.name] = await readSection(within, section, { document, problems })
  return { entries, problems }
}

/** The entries of a section as the file gives them, by name. */
export function entriesIn({ name: field, isWhole }: AnySection, document: object): [string, unknown][] {
  const given = (document as Sections)[field] ?? {}
  if (isWhole === true) return (document as Sections)[field] === undefined ? [] : [[field, given]]
  return Object.entries(given)
}

/** Where an entry of a section stands in the file: `schedules.nightly`. */
export function placeIn({ name: field, isWhole }: AnySection, entry: string): string {
  return isWhole === true ? field : `${field}.${entry}`
}

function ownTarget(entry: unknown): readonly unknown[] {
  return isRecord(entry) ? [entry.target] : []
}

/** Reads the entries of a section until a refusal is full. */
async function readSection(
  context: OperationContext,
  section: AnySection,
  { document, problems }: { readonly document: Sections; readonly problems: Problem[] },
): Promise<Entry[]> {
  const given = entriesIn(section, document)
  const readOne = await section.reader(
    context,
    given.map(([named]) => named),
  )
  const nameForm = z.strictObject({ name: section.names })
  const found: Entry[] = []
  for (const [named, content] of given) {
    if (problems.length >= problemsMax) {
      const problem = `has ${given.length - found.length} entries that were not read`
      // After a hundred other problems this one would not be shown.
      problems.unshift({ field: section.name, problem, expected: 'the problems before them to be corrected first' })
      break
    }
    if (found.length % entriesInTurnMax === 0) await nextTurn()
    const own: Problem[] = []
    found.push(readOne(named, content, own))
    const ofName = read(nameForm, { name: named }, 'a name').problems
    problems.push(
      ...ofName.map(({ problem, expected }) => ({
        field: section.name,
        problem: `has a name that ${problem}`,
        expected,
      })),
      // A bad name is reported once.
      ...placed(placeIn(section, named), ofName.length === 0 ? own : own.filter(({ field }) => field !== 'name')),
    )
  }
  return found
}

const entriesMax = 1_000
/** How many entries are read before the event loop gets its turn. */
const entriesInTurnMax = 50

function tooMany(section: AnySection, document: Sections): Problem[] {
  const { name: field } = section
  const { length } = entriesIn(section, document)
  const expected = `at most ${entriesMax}; put the rest into another file with another source`
  return length > entriesMax ? [{ field, problem: `has ${length} of them`, expected }] : []
}

/** Prefixes the fields of an entry's problems with its path in the file: `schedules.nightly.cron`. */
export function placed(where: string, problems: readonly Problem[]): Problem[] {
  return problems.map(({ field, ...rest }) => ({ field: field === '' ? where : `${where}.${field}`, ...rest }))
}

/** The queues that schedules name and the file does not define: they are created with the smallest ceiling. */
export function unsaidQueues({ entries }: ReadDocument): string[] {
  const said = new Set((entries.queues as readonly QueueEntry[]).map(({ name: queue }) => queue))
  const named = new Set(
    (entries.schedules as readonly { readonly queue?: string }[]).map(({ queue = defaultQueue }) => queue),
  )
  return [...named].filter((queue) => !said.has(queue) && queue !== defaultQueue).sort()
}
