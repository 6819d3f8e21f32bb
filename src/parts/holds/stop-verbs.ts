import { z } from 'zod'
import { durationMsMax } from '../../core/duration.ts'
import { BelfryError } from '../../core/error.ts'
import { holdSubject, isInForce } from '../../core/hold.ts'
import { kernelHoldReasons } from '../../core/hold-reason.ts'
import { tooNarrow } from '../../operations/caller-scope.ts'
import { clause } from '../../operations/explain/words.ts'
import { reason } from '../../operations/fields/basic-fields.ts'
import { durationFields, durationOf } from '../../operations/input/duration-input.ts'
import { isoText } from '../../operations/input/instant.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import { throwAbsentQueue } from '../../operations/not-found.ts'
import { operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { absentName, notOffered, refuseAbsentSubject } from '../../operations/present-subject.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import { awaitFires } from '../../store/holds/await-leases.ts'
import { listHolds } from '../../store/holds/list-holds.ts'
import type { Subject } from '../../store/leases/stop-leased.ts'
import type { Store } from '../../store/port.ts'
import { clockNow } from '../../store/statement.ts'
import { type Hold, holdAnswer, holdSchema, stoppedSchema } from './hold-answer.ts'
import { readStopped, stopWords } from './hold-input.ts'
import { changing } from './people.ts'
import { showGoing, showStopped } from './show.ts'
import { askHolders, awaitStop, countAtWork, goOn, type Stopping, stopWork, turnEach } from './stop-work.ts'

const on = z.string().describe(`What to stop: ${stopWords}. Default: everything.`).optional()
const everywhere = z
  .boolean()
  .describe('Whether this is for all namespaces of the store, which needs admin. Default: only this one.')
  .optional()

export const stop = operation({
  ...changing,
  verb: 'stop',
  command: ['stop'],
  about: subjectIn,
  says: 'Stop everything, or a queue, kind or account: nothing of it fires and no run starts on any worker until `belfry go`; what is at work finishes.',
  request: 'a stop',
  input: z.strictObject({
    on,
    everywhere,
    reason: reason.describe('Why, for everyone who asks what work waits for.').optional(),
    ...durationFields('for', 'How long the stop lasts. Default: until `belfry go`.'),
    release: z
      .boolean()
      .describe(
        'Whether runs that are at work are stopped and given back, which uses no attempt. Default: they finish.',
      )
      .optional(),
    cancel: z.boolean().describe('Whether runs that are at work are cancelled. Default: they finish.').optional(),
  }),
  takes: [],
  output: stoppedSchema,
  show: showStopped,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [
    {},
    { reason: 'Incident 4711', cancel: true },
    { on: 'kind:command', release: true, reason: 'Incident 4711', for: '2h' },
  ],
  async judge(context, { value, problems: found }) {
    const { store, actor } = context
    const problems: Problem[] = [...found]
    const stopping = stoppingOf(context, value, problems)
    const forMs = durationOf(value, 'for', problems)
    if (forMs !== undefined && (forMs < 1 || forMs > durationMsMax)) {
      problems.push({ field: 'for', problem: `is ${forMs} ms`, expected: 'a duration of 1ms to 36500d' })
    }
    if (value.cancel === true && value.release === true) {
      problems.push({ field: 'release', problem: 'is given beside `cancel`', expected: 'only one of the two' })
    }
    refuse('The stop', problems)
    const doubt = await doubtOf(context, stopping)
    const note = value.reason ?? null
    const stopped = await store.do(stopWork, { ...stopping, note, forMs, actor })
    if (stopped.answer === 'not-found') return throwAbsentQueue(context, stopping.subject)
    const hold = holdAnswer(stopped.hold, await store.look(clockNow))
    if (stopped.answer === 'was-stopped') throw stoppedAlready(hold)
    await store.do(awaitStop, stopping)
    await store.do(awaitFires, stopping)
    const atWork = await store.look(countAtWork, stopping)
    const why = `stopped by ${actor.name}${note === null ? '' : `: ${note}`}`
    const ask = (how: 'cancel' | 'release') =>
      askAll(store, { ...stopping, how, reason: how === 'release' ? why : (note ?? why) })
    const cancelling = value.cancel === true ? await ask('cancel') : 0
    const releasing = value.release === true ? await ask('release') : 0
    return { hold, atWork, cancelling, releasing, namespaces: stopped.namespaces, doubt }
  },
})

function subjectIn({ on: given = 'namespace', everywhere: isAll }: Readonly<Record<string, unknown>>): string {
  // A value that is no text is refused later, by its field; turning it into text here could throw.
  const subject = typeof given === 'string' ? given : 'namespace'
  return isAll === true ? `${subject} everywhere` : subject
}

interface Given {
  readonly on?: string | undefined
  readonly everywhere?: boolean | undefined
}

function stoppingOf(
  context: OperationContext,
  { on: text, everywhere: isAll = false }: Given,
  problems: Problem[],
): Stopping {
  const { scope: has, actor } = context
  if (isAll && has !== undefined && has !== 'admin') throw tooNarrow(actor.name, { has, needs: 'admin' })
  const read = text === undefined ? { scope: 'namespace' as const, subject: '' } : readStopped(text, context.kinds)
  if ('problem' in read) problems.push({ field: 'on', ...read })
  else if (isAll && read.scope === 'queue') {
    problems.push({
      field: 'everywhere',
      problem: 'is given with a queue',
      expected: 'a kind or an account, or neither',
    })
  }
  return { ...(read as Subject), everywhere: isAll }
}

/**
 * Refuses a stop of what does not exist, and returns what is doubtful about one that is made. Other namespaces may have an
 * account or a profile that this one does not have, so that a stop everywhere is never refused for its name.
 */
async function doubtOf(context: OperationContext, { everywhere: isAll, ...subject }: Stopping): Promise<string | null> {
  if (!isAll) await refuseAbsentSubject(context, subject)
  const absent = await absentName(context, subject)
  return absent === null ? notOffered(context, subject) : `${absent.message} Another namespace may have it.`
}

function stoppedAlready({ id, on: what, by, from, note }: Hold): BelfryError {
  const why = note === null ? '' : `: ${clause(note)}`
  const subject = what === 'namespace' ? 'Everything' : what
  return new BelfryError('conflict', `${subject} is stopped already, by ${by} since ${isoText(from)}${why}.`, {
    hint: `Let it go on with \`${goCommand(what)}\`.`,
    details: { hold: id, by, from: isoText(from) },
  })
}

function goCommand(what: string): string {
  return what === 'namespace' ? 'belfry go' : belfryCommand('go', '--on', what)
}

export const go = operation({
  ...changing,
  verb: 'go',
  command: ['go'],
  about: subjectIn,
  says: 'Let what `belfry stop` has stopped go on; the `missed` rules decide over what was due meanwhile.',
  request: 'a start of what was stopped',
  input: z.strictObject({ on, everywhere }),
  takes: [],
  output: z.array(holdSchema),
  show: showGoing,
  errors: ['invalid', 'conflict'],
  examples: [{}, { on: 'kind:command' }],
  async judge(context, { value, problems: found }) {
    const { store, actor } = context
    const problems: Problem[] = [...found]
    const stopping = stoppingOf(context, value, problems)
    refuse('The start', problems)
    const lifted = await store.do(goOn, { ...stopping, actor })
    const now = await store.look(clockNow)
    if (lifted.length === 0) throw nothingStopped(stopping, await stopsInForce(store, now))
    await turned(store, stopping)
    return lifted.map((hold) => ({ ...holdAnswer(hold, now), inForce: false }))
  },
})

async function stopsInForce(store: Store, now: number): Promise<string[]> {
  const holds = await store.look(listHolds)
  const stops = holds.filter((hold) => hold.reason === kernelHoldReasons.stopped.code && isInForce(hold, now))
  return stops.map(holdSubject)
}

function nothingStopped(stopping: Stopping, others: readonly string[]): BelfryError {
  const [other] = others
  const some = `Not everything is stopped, only ${others.join(', ')}`
  const all = other === undefined ? 'Nothing is stopped' : some
  const what = stopping.scope === 'namespace' ? all : `${holdSubject(stopping)} is not stopped`
  const hint =
    other === undefined
      ? 'Another hold is lifted by its id: `belfry hold list`, `belfry hold lift ID`.'
      : `${stopping.scope === 'namespace' ? '' : `What is stopped: ${others.join(', ')}. `}Let it go on with \`${goCommand(other)}\`.`
  return new BelfryError('conflict', `${what}.`, { hint, details: { stopped: [...others] } })
}

/** After this many steps the call returns, and the workers do the rest. */
const stepsMax = 50
const turnedMax = 100

async function turned(store: Store, stopping: Stopping): Promise<void> {
  for (let steps = 1; steps <= stepsMax; steps++) if (!(await store.do(turnEach, stopping, turnedMax))) return
}

const askedMax = 500

async function askAll(
  store: Store,
  asking: Stopping & { readonly how: 'cancel' | 'release'; readonly reason: string },
): Promise<number> {
  for (let sum = 0; ; ) {
    const asked = (await store.do(askHolders, { ...asking, limit: askedMax })).length
    sum += asked
    if (asked < askedMax) return sum
  }
}
