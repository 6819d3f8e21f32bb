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

/** Cron has no retries and no ceiling; the queue created for an import comes close. */
const policy = { maxAttempts: 1, maxConcurrent: 50 }

export const importCrontab = operation({
  noun: 'store',
  verb: 'importCrontab',
  begins: true,
  isOk: ({ ok }) => ok,
  command: ['import', 'crontab'],
  says: 'Import a crontab: each line becomes a schedule that starts its command, and what is not supported is listed.',
  request: 'an import of a crontab',
  effect: 'write',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({
    text: noted(z.string().max(textLengthMax), {
      file: '/etc/crontab',
      expected: 'the text of a crontab, of at most 1 MB',
    }).describe('The text of the crontab, as crontab -l prints it.'),
    system: z.boolean().describe('It is a system crontab, with a user before each command. Default: false.').optional(),
    zone: zone
      .describe('The IANA time zone of lines without CRON_TZ. Default: the time zone of the caller.')
      .optional(),
    queue: name.describe(`The queue of the commands. Default: ${queueDefault}.`).optional(),
    prefix: noted(
      z
        .string()
        .max(prefixLengthMax)
        .refine((start) => !start.startsWith('-')),
      { expected: `a text of at most ${prefixLengthMax} characters that does not begin with a dash` },
    )
      .describe('The prefix of each schedule name. Default: none.')
      .optional(),
    partial,
  }),
  takes: ['text'],
  output: imported,
  errors: ['invalid', 'conflict', 'quota'],
  persons: true,
  doors: {
    library: true,
    cli: true,
    http: true,
    mcp: 'A crontab starts programs, so only a person may import it.',
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
        hint: 'Give the names a prefix, or delete the existing schedules.',
        isPartial: isPartial === true,
      },
    )
  },
})

/** Differences from cron because of the queue. */
function ofQueue({ maxConcurrent, maxAttempts }: Pick<Policy, 'maxConcurrent' | 'maxAttempts'>, queue: string): Left[] {
  const where = 'every line'
  const ceiling = `queue ${queue} has at most ${maxConcurrent} at work, and cron has no ceiling`
  const tries = `queue ${queue} tries a failed command up to ${maxAttempts} times; cron tries it once`
  return [
    { where, what: 'how many may run at once', why: ceiling, isTaken: true },
    ...(maxAttempts === 1 ? [] : [{ where, what: 'a command that fails', why: tries, isTaken: true as const }]),
  ]
}
