import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import type { Policy } from '../../core/queue/policy.ts'
import { queueVersions } from '../../store/reads/find-queue.ts'
import type { VersionView } from '../../store/views.ts'
import { queueName } from '../fields/basic-fields.ts'
import { fieldChange, fieldChanges } from '../fields/field-changes.ts'
import { quoted } from '../input/refuse-input.ts'
import { throwAbsentQueue } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { type AnswerOf, count, instantOutput, text } from '../schema/output-schema.ts'
import { policySchema } from './queue-schema.ts'
import { policyDiffShown, policyVersionsShown } from './show.ts'

const policyVersion = z.strictObject({
  version: count('The number of the version.'),
  policy: policySchema.nullable().describe('The policy; null: the stored policy cannot be read.'),
  at: instantOutput('When it was written.'),
  actor: text('The actor that wrote it.'),
  door: text('The door it was written through; null: not recorded.').nullable(),
})
export type PolicyVersion = AnswerOf<typeof policyVersion>

const policyDiff = z.strictObject({
  from: count('The earlier version; 0: there was none.'),
  to: count('The later version.'),
  changes: z.array(fieldChange).describe('The fields that differ.'),
})
export type PolicyDiff = AnswerOf<typeof policyDiff>

const looking = {
  noun: 'queue',
  effect: 'read',
  scope: 'read',
  takes: ['name'],
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
} as const

export const versions = operation({
  ...looking,
  verb: 'versions',
  command: ['queue', 'policy', 'versions'],
  says: 'List the policy versions of a queue, newest first.',
  request: 'a list of policies',
  input: z.strictObject({ name: queueName }),
  output: z.array(policyVersion),
  show: policyVersionsShown,
  examples: [{ name: 'default' }],
  run: async (context, { name }) =>
    (await versionsOf(context, name)).map(({ version, content, at, actor, door }) => ({
      version,
      policy: content,
      at,
      actor,
      door,
    })),
})

const version = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)

export const diff = operation({
  ...looking,
  verb: 'diff',
  command: ['queue', 'policy', 'diff'],
  says: 'Show what differs between two policy versions of a queue; by default the last two.',
  request: 'a comparison of policies',
  input: z.strictObject({
    name: queueName,
    from: version.describe('The earlier version. Default: the one before `to`.').optional(),
    to: version.describe('The later version. Default: the newest.').optional(),
  }),
  output: policyDiff,
  show: policyDiffShown,
  examples: [{ name: 'default' }, { name: 'default', from: 1, to: 2 }],
  async run(context, { name, from, to }) {
    const known = await versionsOf(context, name)
    const later = to === undefined ? (known[0] as VersionView<Policy | null>) : named(name, to, known)
    const earlierNumber = from ?? later.version - 1
    const earlier = from === undefined && earlierNumber === 0 ? null : named(name, earlierNumber, known)
    return {
      from: earlierNumber,
      to: later.version,
      changes: fieldChanges(earlier?.content ?? {}, later.content ?? {}),
    }
  },
})

async function versionsOf(context: OperationContext, name: string): Promise<VersionView<Policy | null>[]> {
  const known = await context.store.look(queueVersions, name)
  return known.length === 0 ? throwAbsentQueue(context, name) : known
}

function named(name: string, wanted: number, known: readonly VersionView<Policy | null>[]): VersionView<Policy | null> {
  const found = known.find((each) => each.version === wanted)
  if (found !== undefined) return found
  const newest = known[0]?.version ?? 0
  throw new BelfryError('not-found', `Queue ${quoted(name)} has no version ${wanted}.`, {
    hint: `It has versions 1 to ${newest}.`,
    details: { queue: name, version: wanted, newest },
  })
}
