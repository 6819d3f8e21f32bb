import { jsonProblem } from '../../core/json/json.ts'
import { payloadBytesMax } from '../../core/run/payload.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { instantOf } from '../../operations/input/instant.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import type { RunWithPast } from '../../store/runs/enqueue.ts'
import { bytesOf, type Draft, type Left, nothing, shown } from './draft.ts'
import { type Fields, fieldsIn, isFields, listIn, strangers } from './json-file.ts'

/** Fields of an entry that describe the work, which are passed on. */
const facts = ['id', 'runId', 'appId', 'workflowId', 'repo', 'enqueuedAt', 'note', 'inputs', 'provenance']
/** Fields with the state of the work; each is mapped or reported. */
const standing = ['schemaVersion', 'status', 'priority', 'attempts', 'nextEligibleAt']
/** Fields that apply only to entries with a certain status. */
const ofStatus: Readonly<Record<string, string>> = {
  drainedAt: 'drained',
  parkedReason: 'parked',
  leaseId: 'leased',
  leaseExpiresAt: 'leased',
}
const knownFields: ReadonlySet<string> = new Set([...facts, ...standing, ...Object.keys(ofStatus)])

const whole = 'the entry'
/** Why entries with these statuses are not imported. */
const notTaken: Readonly<Record<string, string>> = {
  drained: 'it is drained: a host has received it already',
  cancelled: 'it was cancelled',
  draining: 'it is draining, and it is not known whether it was done',
}

const runsMax = 100_000
const idLengthMax = 400
const priorityMax = 1_000_000
const attemptsMax = 1_000_000
const reasonLengthMax = 2_000

/** Reads `queue.json` into runs without a target, which outside hosts lease as before. Each has a key made of its entry's id, so importing a file twice creates nothing twice. */
export function draftOfQueue(text: string, { queue, problems }: { queue: string; problems: Problem[] }): Draft {
  const from = { field: 'queue', name: 'queue.json', problems }
  const file = fieldsIn(text, from)
  const entries = file === null ? null : listIn(file, 'entries', from)
  if (file === null || entries === null) return nothing
  const known = new Set(['schemaVersion', 'entries'])
  const left: Left[] = strangers(file, known, 'queue', 'a queue of cool-workflow has no such field')
  const ids = new Map<string, string>()
  const found = entries.flatMap((entry, index): Taken[] => {
    const where = `queue entries[${index}]${isFields(entry) && typeof entry.id === 'string' ? ` ${shown(entry.id)}` : ''}`
    const why = whyNotTaken(entry, ids)
    if (why !== null) {
      left.push({ where, what: whole, why })
      return []
    }
    const sound = entry as Entry
    ids.set(sound.id, where)
    return [{ entry: sound, run: runOf(sound, queue, where, left) }]
  })
  if (found.length > runsMax) {
    const problem = `has ${found.length} entries to be done`
    problems.push({ field: 'queue', problem, expected: `at most ${runsMax} in one file` })
    return nothing
  }
  return { ...nothing, runs: found.sort(byPlace).map(({ run }) => run), left }
}

interface Entry extends Fields {
  readonly id: string
  readonly status: 'pending' | 'ready' | 'leased' | 'parked'
}

const taken: ReadonlySet<unknown> = new Set<Entry['status']>(['pending', 'ready', 'leased', 'parked'])

interface Taken {
  readonly entry: Entry
  readonly run: RunWithPast
}

function whyNotTaken(entry: unknown, ids: ReadonlyMap<string, string>): string | null {
  if (!isFields(entry)) return 'it is not an object'
  const { id, status } = entry
  if (typeof id !== 'string' || id === '') return 'it has no id, so a repeated import could not recognise it'
  if (id.length > idLengthMax || id.includes('\0') || !id.isWellFormed()) return 'its id cannot be part of a key here'
  if (!taken.has(status)) {
    const named = typeof status === 'string' && Object.hasOwn(notTaken, status) ? notTaken[status] : undefined
    return named ?? (status === undefined ? 'it has no status' : `its status ${shown(status)} is not known`)
  }
  const first = ids.get(id)
  if (first !== undefined) return `its id is that of ${first.replace(/^queue /, '').replace(/ .*$/, '')}`
  return whyUnkept(entry)
}

function whyUnkept(entry: Fields): string | null {
  const problem = jsonProblem(entry)
  if (problem !== null) return `its ${problem.path} ${problem.problem}`
  const bytes = bytesOf(payloadOf(entry))
  return bytes > payloadBytesMax ? `it has ${bytes} bytes, and a payload at most ${payloadBytesMax}` : null
}

/** The order in which cool-workflow hands them out; runs created together start in the order of creation. */
function byPlace({ entry: a, run: first }: Taken, { entry: b, run: second }: Taken): number {
  const priority = (first.priority ?? 100) - (second.priority ?? 100)
  return priority || compared(shownAge(a), shownAge(b)) || compared(a.id, b.id)
}

function shownAge({ enqueuedAt }: Entry): string {
  return typeof enqueuedAt === 'string' ? enqueuedAt : ''
}

function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The fields of an entry that do not depend on its attempts, and unknown fields. */
function payloadOf(entry: Fields): Fields {
  const handed = Object.entries(entry).filter(([name]) => facts.includes(name) || !knownFields.has(name))
  return Object.fromEntries(handed)
}

function runOf(entry: Entry, queue: string, where: string, left: Left[]): RunWithPast {
  const note = (what: string, why: string) => left.push({ where, what, why, isTaken: true })
  const handedOn = 'an entry of cool-workflow has no such field; it is passed on in the payload'
  for (const { what, why } of [...strangers(entry, knownFields, where, handedOn), ...idle(entry, where)])
    note(what, why)
  const { id, status } = entry
  if (status === 'leased') {
    const lease = [entry.leaseId, entry.leaseExpiresAt].filter((part) => part !== undefined).map(shown)
    note(
      `its lease ${lease.join(', until ')}`.trim(),
      'it is ready here, and the holder of its lease in cool-workflow may also do it',
    )
  }
  const attempts = attemptsOf(entry, note)
  return {
    queue,
    payload: payloadOf(entry),
    idempotencyKey: `cool-workflow:${id}`,
    ...onlyGiven({ priority: priorityOf(entry, note) }),
    ...(attempts > 0 && { attempts }),
    ...(status === 'parked'
      ? { parkedReason: reasonOf(entry, note) }
      : onlyGiven({ notBefore: notBeforeOf(entry, note) })),
  }
}

type Note = (what: string, why: string) => void

/** The attempts, and the last error. */
function reasonOf({ parkedReason = '' }: Entry, note: Note): string {
  const isText = typeof parkedReason === 'string'
  if (!isText) note(`parkedReason ${shown(parkedReason)}`, 'it is not a text')
  if (!isText || parkedReason === '') return 'parked in cool-workflow'
  if (parkedReason.length <= reasonLengthMax) return parkedReason
  note(`parkedReason ${shown(parkedReason)}`, `only its first ${reasonLengthMax} characters are kept`)
  return `${parkedReason.slice(0, reasonLengthMax)}…`
}

function priorityOf({ priority }: Entry, note: Note): number | undefined {
  if (priority === undefined) return undefined
  if (Number.isSafeInteger(priority) && Math.abs(priority as number) <= priorityMax) return priority as number
  note(`priority ${shown(priority)}`, `a run takes an integer up to ${priorityMax}; it gets the default, 100`)
  return undefined
}

function attemptsOf({ attempts = 0 }: Entry, note: Note): number {
  if (Number.isSafeInteger(attempts) && (attempts as number) >= 0 && (attempts as number) <= attemptsMax) {
    return attempts as number
  }
  note(`attempts ${shown(attempts)}`, `a run takes an integer from 0 to ${attemptsMax}; it gets all its attempts here`)
  return 0
}

function notBeforeOf({ nextEligibleAt }: Entry, note: Note): number | undefined {
  if (nextEligibleAt === undefined) return undefined
  const read = typeof nextEligibleAt === 'string' ? instantOf(nextEligibleAt) : { problem: '' }
  if ('at' in read) return read.at
  note(`nextEligibleAt ${shown(nextEligibleAt)}`, 'it is not an instant, so the run may start at once')
  return undefined
}

/** Fields left over from an earlier status of the entry. */
function idle(entry: Entry, where: string): Left[] {
  return Object.entries(ofStatus).flatMap(([name, status]) => {
    if (entry[name] === undefined || entry.status === status) return []
    return [
      { where, what: `${name} ${shown(entry[name])}`, why: `it has no meaning for an entry that is ${entry.status}` },
    ]
  })
}
