import { z } from 'zod'
import { name, zone } from '../../operations/fields/basic-fields.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { clockNow } from '../../store/statement.ts'
import { bringIn } from './bring-in.ts'
import { together } from './draft.ts'
import { imported, partial } from './imported.ts'
import { draftOfPolicy } from './workflow-policy.ts'
import { draftOfQueue } from './workflow-queue.ts'
import { draftOfTasks } from './workflow-tasks.ts'

const queueDefault = 'cool-workflow'
const textLengthMax = 100_000_000

function fileText(file: string, says: string) {
  return noted(z.string().max(textLengthMax), { file }).describe(says).optional()
}

export const importWorkflow = operation({
  noun: 'store',
  verb: 'importWorkflow',
  begins: true,
  isOk: ({ ok }) => ok,
  command: ['import', 'cool-workflow'],
  says: 'Import the policy, queue and tasks of cool-workflow; what is not supported is listed.',
  request: 'an import of workflows',
  effect: 'write',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({
    queue: fileText('queue.json', 'The text of queue.json, whose entries become runs for outside hosts.'),
    policy: fileText(
      'scheduling-policy.json',
      'The text of scheduling-policy.json, which sets the policy of the queue.',
    ),
    tasks: fileText('tasks.json', 'The text of tasks.json, whose tasks become schedules.'),
    into: name.describe(`The queue for all of it. Default: ${queueDefault}.`).optional(),
    zone: zone.describe('The IANA time zone of the task calendars. Default: the time zone of the caller.').optional(),
    partial,
  }),
  takes: [],
  output: imported,
  errors: ['invalid', 'conflict', 'quota'],
  doors: everyDoor,
  show: { load: async () => (await import('./show.ts')).showImported },
  examples: [
    {
      queue:
        '{"schemaVersion":1,"entries":[{"id":"q-1","status":"pending","priority":10,"repo":"/srv/app","note":"n"}]}',
      policy: '{"schemaVersion":1,"maxConcurrent":2,"maxAttempts":3,"leaseTtlMs":300000}',
    },
    {
      tasks:
        '{"schemaVersion":1,"tasks":[{"id":"cron-1","kind":"cron","status":"active","cron":"0 9 * * 1","prompt":"Look."}]}',
      into: 'agents',
      zone: 'UTC',
    },
  ],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const { queue, policy, tasks, into = queueDefault } = value
    if (queue === undefined && policy === undefined && tasks === undefined && problems.length === 0) {
      problems.push({ field: 'queue', problem: 'is missing', expected: 'it, or `policy`, or `tasks`' })
    }
    const now = await context.store.look(clockNow)
    const draft = together([
      ...(policy === undefined ? [] : [draftOfPolicy(policy, problems)]),
      ...(queue === undefined ? [] : [draftOfQueue(queue, { queue: into, problems })]),
      ...(tasks === undefined
        ? []
        : [draftOfTasks(tasks, { queue: into, zone: value.zone ?? context.zone, now, problems })]),
    ])
    refuse('The import', problems)
    return bringIn(context, draft, {
      queue: into,
      reason: 'imported from cool-workflow',
      hint: 'Delete the existing ones, or leave out `tasks`.',
      isPartial: value.partial === true,
    })
  },
})
