import { durationMsMax } from '../../core/duration.ts'
import type { HoldScope } from '../../core/hold.ts'
import { durationOf } from '../../operations/input/duration-input.ts'
import { isoText, over } from '../../operations/input/instant.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import { throwAbsentQueue, throwAbsentSchedule } from '../../operations/not-found.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { hasNames, partsOfKind } from '../../operations/present-subject.ts'
import type { Subject } from '../../store/leases/stop-leased.ts'

/** What a person may hold. Accounts are held by the part that knows them. */
const scopes = ['namespace', 'queue', 'kind', 'key', 'schedule'] as const satisfies readonly HoldScope[]

export const onWords = 'namespace, queue:NAME, kind:KIND, kind:KIND/NAME, key:TEXT or schedule:NAME'

export interface HoldOn {
  readonly scope: (typeof scopes)[number]
  readonly subject: string
}

const stopScopes: readonly string[] = ['namespace', 'queue', 'kind']

export const stopWords = 'queue:NAME, kind:KIND, kind:KIND/NAME or account:NAME'

/** What a stop is on, or what is wrong with the text. */
export function readStopped(text: string, kinds: Kinds): Subject | Omit<Problem, 'field'> {
  const [, account] = /^account:(.*)$/s.exec(text) ?? []
  if (account?.includes(',')) return { problem: 'names several accounts', expected: 'account:NAME, one stop for each' }
  if (account !== undefined && account !== '') return { scope: 'account', subject: account }
  const read = account === undefined ? readOn(text, kinds) : { problem: 'names no account', expected: stopWords }
  if ('problem' in read) return read.expected === onWords ? { ...read, expected: stopWords } : read
  return stopScopes.includes(read.scope) ? read : { problem: `is on a ${read.scope}`, expected: stopWords }
}

/** What a text names, or what is wrong with it. */
export function readOn(text: string, kinds: Kinds): HoldOn | Omit<Problem, 'field'> {
  const [, word = '', subject] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? []
  const scope = scopes.find((one) => one === word)
  if (scope === undefined) return { problem: `is on ${JSON.stringify(word)}`, expected: onWords }
  if (scope === 'namespace') {
    return subject === undefined
      ? { scope, subject: '' }
      : { problem: 'names a namespace', expected: '`namespace` alone: the one that the store was opened with' }
  }
  if (subject === undefined || subject === '') return { problem: `names no ${scope}`, expected: `${scope}:NAME` }
  return scope === 'kind' ? readKind(subject, kinds) : { scope, subject }
}

type Kinds = OperationContext['kinds']

/** A hold on a kind that does not exist would hold nothing. */
function readKind(subject: string, kinds: Kinds): HoldOn | Omit<Problem, 'field'> {
  const { word, name } = partsOfKind(subject)
  const open = kinds.filter(({ closed }) => closed === undefined)
  const kind = open.find((one) => one.name === word)
  if (kind === undefined) {
    const expected = `one of ${open.map((one) => one.name).join(', ')}`
    return { problem: `is on the kind ${JSON.stringify(word)}`, expected }
  }
  if (name !== undefined && !hasNames(kind)) {
    return { problem: `names a ${word}, and targets of this kind have no names`, expected: `kind:${word}` }
  }
  if (name !== '') return { scope: 'kind', subject }
  return { problem: 'names no executor behind the slash', expected: `kind:${word} or kind:${word}/NAME` }
}

type Given = Readonly<Record<string, unknown>>

interface Stretch {
  readonly from?: number | undefined
  readonly until?: number | undefined
}

/** From when until when a hold is asked for; what is wrong with it goes to `problems`. */
export function readStretch(given: Given, value: Stretch, now: number, problems: Problem[]): Stretch {
  const { from, until } = value
  const forMs = durationOf(value, 'for', problems)
  const begins = from ?? now
  if (from !== undefined && from < now) problems.push(over('from', from, now))
  if (given.until !== undefined && (given.for !== undefined || given.forMs !== undefined)) {
    problems.push({ field: 'until', problem: 'is given beside `for`', expected: 'only one of the two' })
  }
  if (forMs !== undefined && (forMs < 1 || forMs > durationMsMax)) {
    problems.push({ field: 'for', problem: `is ${forMs} ms`, expected: 'a duration of 1ms to 36500d' })
  }
  if (until !== undefined && until <= now) problems.push(over('until', until, now))
  else if (until !== undefined && until <= begins) {
    problems.push({
      field: 'until',
      problem: `is ${isoText(until)}`,
      expected: `after ${isoText(begins)}, where it begins`,
    })
  }
  return { from, until: forMs === undefined ? until : begins + forMs }
}

/** The store found no such queue or schedule. */
export async function throwAbsent(context: OperationContext, { scope, subject }: HoldOn): Promise<never> {
  return scope === 'queue' ? throwAbsentQueue(context, subject) : throwAbsentSchedule(context, subject)
}
