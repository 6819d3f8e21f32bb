import type { z } from 'zod'
import { defaultPolicy } from '../../../core/queue/policy.ts'
import type { ConfigSection } from '../../../operations/config-section.ts'
import { withAdded } from '../../../operations/fields/added-fields.ts'
import { queueName } from '../../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../../operations/fields/field-changes.ts'
import { type Reading, read } from '../../../operations/input/read-input.ts'
import { policyFaults, policyInput, readPolicy } from '../../../operations/queue/policy-input.ts'
import { noted, noteOf } from '../../../operations/schema/schema-note.ts'
import { refuseManaged } from '../../../store/managed.ts'
import type { PolicyPatch } from '../../../store/port.ts'
import { setQueue } from '../../../store/queues/set-queue.ts'
import { findQueue } from '../../../store/reads/find-queue.ts'
import { all, both, run } from '../../../store/statement.ts'
import type { QueueView } from '../../../store/views.ts'

const findKept = both(
  'config find queues',
  'select name from belfry.queue where ns = $1 and managed_by = $2 order by name',
)
const manage = both('config manage queue', 'update belfry.queue set managed_by = $3 where ns = $1 and name = $2')

export interface QueueEntry {
  readonly name: string
  readonly policy: PolicyPatch
}

export interface QueueApplied {
  readonly name: string
  /** `left`: the file no longer names it, so no file manages it; it is not deleted, because it may hold runs. */
  readonly answer: 'created' | 'updated' | 'unchanged' | 'left'
  readonly before: QueueView | null
  readonly after: QueueView | null
}

const form = noted(policyInput.omit({ name: true, ifVersion: true }), noteOf(policyInput))

export const queues: ConfigSection<QueueEntry, QueueApplied> = {
  name: 'queues',
  says: 'Policies of queues by name; a field that is left out has the default of a new queue.',
  names: queueName,
  locks: 'queues',
  async reader(context) {
    return (name, given, problems) => {
      const reading = read(withAdded(form, context.fields), given ?? {}, 'a policy')
      const policy = readPolicy(reading as Reading<z.output<typeof policyInput>>, context)
      problems.push(...policyFaults(policy, defaultPolicy, reading.given))
      return { name, policy: policy.patch }
    }
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, { name, policy }) {
    const before = yield* findQueue(context, name)
    refuseManaged({ noun: 'queue', name, managedBy: before?.managedBy ?? null }, source)
    const { answer, queue } = yield* setQueue(context, name, { policy, isWhole: true, source, actor })
    yield* run(manage, context.ns, name, source)
    return { name, answer: answer === 'version-differs' ? 'unchanged' : answer, before, after: queue }
  },
  *leave({ context }, name) {
    yield* run(manage, context.ns, name, null)
    const queue = yield* findQueue(context, name)
    return { name, answer: 'left', before: queue, after: queue }
  },
  written: ({ name, answer, before, after }) => ({
    name,
    answer,
    changes: fieldChanges(before?.policy ?? {}, after?.policy ?? {}),
  }),
  notes: (applied) =>
    applied
      .filter(({ answer }) => answer === 'left')
      .map(({ name }) => `Queue ${name} is no longer managed by a file and is unchanged: it may hold runs.`),
}
