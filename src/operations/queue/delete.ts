import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import type { QueueUse } from '../../store/port.ts'
import { deleteQueue } from '../../store/queues/delete-queue.ts'
import type { Counted } from '../../store/views.ts'
import { queueName } from '../fields/basic-fields.ts'
import { quoted } from '../input/refuse-input.ts'
import { throwAbsentQueue } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import { plainText } from '../schedule/plain-text.ts'
import { freedName } from '../schema/output-schema.ts'
import { deleted } from '../show.ts'

export const remove = operation({
  noun: 'queue',
  verb: 'delete',
  method: 'DELETE',
  idempotent: true,
  asksFirst: true,
  says: 'Delete an empty queue and free its name; its ended runs are kept as long as before.',
  request: 'a deletion of a queue',
  effect: 'destructive',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({ name: queueName }),
  takes: ['name'],
  output: freedName,
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
  show: ({ name }, sheet) => deleted(`queue ${plainText(name)}`, sheet),
  examples: [{ name: 'mail' }],
  async run(context, { name }) {
    const { store, actor } = context
    const answer = await store.do(deleteQueue, name, { actor })
    switch (answer.answer) {
      case 'deleted':
        return { name, deleted: true as const }
      case 'not-found':
        return throwAbsentQueue(context, name)
      case 'system':
        throw new BelfryError('conflict', `Queue ${quoted(name)} cannot be deleted: Belfry itself uses it.`, {
          hint: 'Change its policy instead: `belfry queue set`.',
          details: { queue: name },
        })
      case 'in-use':
        throw inUse(name, answer.use)
    }
  },
})

function inUse(name: string, use: QueueUse): BelfryError {
  const { live, parked, schedules, schedulesCount, others } = use
  const reasons = [
    live.count === 0 ? '' : `${runs(live)} in it ${live.count === 1 ? 'has' : 'have'} not ended`,
    parked.count === 0 ? '' : `${runs(parked)} in it ${parked.count === 1 ? 'is' : 'are'} parked`,
    schedulesCount === 0 ? '' : `${named('schedule', schedules, schedulesCount)} it`,
    ...Object.entries(others).map(([noun, names]) =>
      names.length === 0 ? '' : `${named(noun, names, names.length)} it`,
    ),
  ].filter((reason) => reason !== '')
  const plurals = Object.fromEntries(Object.entries(others).map(([noun, names]) => [`${noun}s`, names]))
  return new BelfryError('conflict', `Queue ${quoted(name)} is in use: ${reasons.join('; ')}.`, {
    hint: 'Let its runs end or cancel them, and move whatever names it to another queue.',
    details: { queue: name, live: live.count, parked: parked.count, schedules: schedulesCount, ...plurals },
  })
}

function runs({ count, countIsAtLeast }: Counted): string {
  return `${countIsAtLeast ? 'at least ' : ''}${count} ${count === 1 ? 'run' : 'runs'}`
}

function named(noun: string, names: readonly string[], count: number): string {
  const more = count - names.length
  const told = names.map(quoted)
  const all = more > 0 ? [...told, `${more} more`] : told
  return count === 1 ? `${noun} ${told[0]} names` : `${noun}s ${all.join(', ')} name`
}
