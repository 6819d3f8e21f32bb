import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { defaultQueue } from '../../core/queue/policy.ts'
import { type AnySection, sectionInput } from '../../operations/config-section.ts'
import { name } from '../../operations/fields/basic-fields.ts'
import { isListenAddress, listenExpected } from '../../operations/input/listen-address.ts'
import { read } from '../../operations/input/read-input.ts'
import { type Problem, problemsMax } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { type QueueEntry, queues } from './sections/queues-section.ts'
import { schedules } from './sections/schedules-section.ts'
import { tokens } from './sections/token-scopes-section.ts'

/** What a file says besides its sections, and the sections that come without any other part. */
export const documentShape = {
  source: name.describe('Names whoever looks after what the file makes; it deletes only what the same source made.'),
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
        .describe('Whether it listens beyond this machine too, for a proxy with TLS in front of it. Default: false.')
        .optional(),
      hosts: z.array(z.string().min(1)).readonly().describe('More hosts that requests may be addressed to.').optional(),
    })
    .describe('How a worker that reads the file serves HTTP; what is said where it is started goes before it.')
    .optional(),
}

/** The sections of a file in the order in which they are applied: what a schedule names is there before the schedule. */
export function sectionsWith(others: readonly AnySection[]): readonly AnySection[] {
  return [queues, ...others, schedules, tokens]
}

/** The sections of a file, by their names. */
export type Sections = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>

interface Entry {
  readonly name: string
}

export interface ReadDocument {
  /** The entries of each section, by its name. */
  readonly entries: Readonly<Record<string, readonly Entry[]>>
  readonly problems: readonly Problem[]
}

/** Reads all sections of a file, and tells what is wrong with any of them by its place in the file. */
export async function readDocument(context: OperationContext, document: Sections): Promise<ReadDocument> {
  const sections = sectionsWith(context.sections)
  const problems = sections.flatMap((section) => tooMany(section, document))
  // They would keep all other work waiting while they are read, let alone written.
  if (problems.length > 0) return { entries: {}, problems }
  const entries: Record<string, readonly Entry[]> = {}
  for (const section of sections) entries[section.name] = await readSection(context, section, { document, problems })
  return { entries, problems }
}

/** Reads the entries of a section until there are as many problems as a refusal holds: what follows would be read in vain. */
async function readSection(
  context: OperationContext,
  section: AnySection,
  { document, problems }: { readonly document: Sections; readonly problems: Problem[] },
): Promise<Entry[]> {
  const given = Object.entries(document[section.name] ?? {})
  const readOne = await section.reader(
    context,
    given.map(([named]) => named),
  )
  const nameForm = z.strictObject({ name: section.names })
  const found: Entry[] = []
  for (const [named, content] of given) {
    if (problems.length >= problemsMax) {
      const problem = `has ${given.length - found.length} that were not read`
      // Behind a hundred others it would not be shown.
      problems.unshift({ field: section.name, problem, expected: 'what is wrong before them mended first' })
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
      // What is wrong with the name is told once.
      ...placed(`${section.name}.${named}`, ofName.length === 0 ? own : own.filter(({ field }) => field !== 'name')),
    )
  }
  return found
}

const entriesMax = 1_000
/** How many entries are read before the rest of the process has its turn. */
const entriesInTurnMax = 50

function tooMany({ name: field }: AnySection, document: Sections): Problem[] {
  const { length } = Object.keys(document[field] ?? {})
  const expected = `at most ${entriesMax}; another file with another source may have the rest`
  return length > entriesMax ? [{ field, problem: `has ${length} of them`, expected }] : []
}

/** Places the problems of an entry in the whole file: `schedules.nightly.cron`. */
export function placed(where: string, problems: readonly Problem[]): Problem[] {
  return problems.map(({ field, ...rest }) => ({ field: field === '' ? where : `${where}.${field}`, ...rest }))
}

/** The queues that schedules name and the file says nothing of: they are made as queues are that work names by chance. */
export function unsaidQueues({ entries }: ReadDocument): string[] {
  const said = new Set((entries.queues as readonly QueueEntry[]).map(({ name: queue }) => queue))
  const named = new Set(
    (entries.schedules as readonly { readonly queue?: string }[]).map(({ queue = defaultQueue }) => queue),
  )
  return [...named].filter((queue) => !said.has(queue) && queue !== defaultQueue).sort()
}
