import { z } from 'zod'
import type { Policy } from '../../core/queue/policy.ts'
import { name, zone } from '../../operations/fields/basic-fields.ts'
import { operation } from '../../operations/operation.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { clockNow } from '../../store/statement.ts'
import { bringIn } from './bring-in.ts'
import { draftOfCrontab } from './crontab.ts'
import type { Left } from './draft.ts'
import { imported, partial } from './imported.ts'

const queueDefault = 'crontab'
const textLengthMax = 1_000_000
const prefixLengthMax = 100

/** Cron tries nothing twice and has no ceiling; a queue that is made for it is as like it as a queue can be. */
const policy = { maxAttempts: 1, maxConcurrent: 50 }

export const importCrontab = operation({
  noun: 'store',
  verb: 'importCrontab',
  begins: true,
  isOk: ({ ok }) => ok,
  command: ['import', 'crontab'],
  says: 'Takes over a crontab: each line becomes a schedule that starts its command, and what cannot be had is listed.',
  request: 'an import of a crontab',
  effect: 'write',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({
    text: noted(z.string().max(textLengthMax), {
      file: '/etc/crontab',
      expected: 'the text of a crontab, of at most 1 MB',
    }).describe('The text of the crontab, as crontab -l tells it.'),
    system: z
      .boolean()
      .describe('Whether it is one of the system, in which a user stands before each command. Default: false.')
      .optional(),
    zone: zone
      .describe('The IANA zone of lines that no CRON_TZ gives one. Default: the zone of whoever imports it.')
      .optional(),
    queue: name.describe(`The queue that the commands go through. Default: ${queueDefault}.`).optional(),
    prefix: noted(
      z
        .string()
        .max(prefixLengthMax)
        .refine((start) => !start.startsWith('-')),
      { expected: `a text of at most ${prefixLengthMax} characters that does not begin with a dash` },
    )
      .describe('What stands before the name of each schedule. Default: nothing.')
      .optional(),
    partial,
  }),
  takes: ['text'],
  output: imported,
  errors: ['invalid', 'conflict'],
  doors: {
    library: true,
    cli: true,
    http: true,
    mcp: 'A crontab is a list of programs to start, which are for people to bring in.',
  },
  show: { load: async () => (await import('./show.ts')).showImported },
  examples: [
    { text: '# Backs up the database.\n0 2 * * * /srv/backup.sh --full\n' },
    { text: 'MAILTO=ops\n*/5 * * * * root /usr/sbin/check\n', system: true, zone: 'UTC', prefix: 'web-' },
  ],
  async run(context, { text, queue = queueDefault, system = false, prefix = '', partial: isPartial, ...given }) {
    const { store } = context
    const how = { system, zone: given.zone ?? context.zone, queue, prefix, now: await store.look(clockNow) }
    const draft = draftOfCrontab(text, how)
    const found = await store.look(findQueue, queue)
    const isMade = draft.schedules.length > 0
    const left = [...draft.left, ...(isMade ? ofQueue(found?.policy ?? policy, queue) : [])]
    return bringIn(
      context,
      { ...draft, policy: found === null && isMade ? policy : null, left },
      {
        queue,
        reason: 'imported from a crontab',
        hint: 'Give the names a prefix, or delete what is in their way.',
        isPartial: isPartial === true,
      },
    )
  },
})

/** What is other than under cron because there is a queue. */
function ofQueue({ maxConcurrent, maxAttempts }: Pick<Policy, 'maxConcurrent' | 'maxAttempts'>, queue: string): Left[] {
  const where = 'every line'
  const ceiling = `queue ${queue} has at most ${maxConcurrent} at work, and cron has no ceiling`
  const tries = `queue ${queue} tries what fails up to ${maxAttempts} times; cron tries it once`
  return [
    { where, what: 'how many may run at once', why: ceiling, isTaken: true },
    ...(maxAttempts === 1 ? [] : [{ where, what: 'a command that fails', why: tries, isTaken: true as const }]),
  ]
}
