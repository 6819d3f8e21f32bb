import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { instantOf } from '../../operations/input/instant.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import { keepBytesRange } from '../../targets/http/http-target.ts'
import { kindOf, type TargetKind } from '../../targets/kind.ts'
import { type Draft, type DraftedGroup, type DraftedSchedule, type Left, nothing, shown, whyUnsound } from './draft.ts'
import { type Fields, fieldsIn, isFields, listIn } from './json-file.ts'

export interface CronicornReading {
  readonly queue: string
  readonly now: number
  readonly kinds: readonly TargetKind[]
  readonly problems: Problem[]
}

const file = { field: 'text', name: 'an export of jobs and endpoints' }
const pausedReason = 'paused in Cronicorn'

/** Fields of an endpoint that have a meaning only in Cronicorn. */
const noCounterpart: Readonly<Record<string, string>> = {
  maxExecutionTimeMs: 'it was the length of a lock; in Belfry a worker renews its lease while the call runs',
  aiHintIntervalMs: 'hints expire; give a new one with `belfry schedule hint`',
  aiHintNextRunAt: 'hints expire; give a new one with `belfry schedule hint`',
  failureCount: 'the count of failures in a row starts at 0',
}

/** Reads jobs and their endpoints into groups and schedules. Endpoints stand inside their jobs, or beside them with a `jobId`. */
export function draftOfCronicorn(text: string, reading: CronicornReading): Draft {
  const from = { ...file, problems: reading.problems }
  const whole = fieldsIn(text, from)
  const jobs = whole === null ? null : listIn(whole, 'jobs', from)
  if (whole === null || jobs === null) return nothing
  const beside = Array.isArray(whole.endpoints) ? whole.endpoints.filter(isFields) : []
  const left: Left[] = []
  const groups: DraftedGroup[] = []
  const schedules: DraftedSchedule[] = []
  const names = new Set<string>()
  for (const [index, job] of jobs.entries()) {
    const where = `jobs[${index}]`
    const group = groupOf(job)
    if ('why' in group) {
      left.push({ where, what: 'the job', why: group.why })
      continue
    }
    groups.push(group)
    const own = isFields(job) && Array.isArray(job.endpoints) ? job.endpoints : []
    const others = isFields(job) && job.id !== undefined ? beside.filter(({ jobId }) => jobId === job.id) : []
    for (const [place, endpoint] of [...own, ...others].entries()) {
      const drafted = scheduleOf(endpoint, {
        ...reading,
        group: group.name,
        names,
        where: `${where}.endpoints[${place}]`,
      })
      left.push(...drafted.left)
      schedules.push(...drafted.schedules)
    }
  }
  const jobIds = new Set(jobs.filter(isFields).map(({ id }) => id))
  for (const [index, { jobId }] of beside.entries()) {
    const why = `its job ${shown(jobId)} is not in the file`
    if (!jobIds.has(jobId)) left.push({ where: `endpoints[${index}]`, what: 'the endpoint', why })
  }
  return { ...nothing, groups, schedules, left }
}

function groupOf(job: unknown): DraftedGroup | { readonly why: string } {
  if (!isFields(job) || typeof job.name !== 'string') return { why: 'it has no name, and its group needs one' }
  const { name, description, status = 'active' } = job
  if (status === 'archived') return { why: 'it is archived' }
  if (status !== 'active' && status !== 'paused') return { why: `its status ${shown(status)} is not known` }
  const about = typeof description === 'string' && description !== '' ? { description } : {}
  // A group name must not contain a colon: a colon ends the name in the note of a hold.
  const plain = name.replaceAll(':', ' -').replace(/^-+/, '').trim()
  if (plain === '' || plain.length > 200) return { why: `its name ${shown(name)} cannot be that of a group` }
  return { name: plain, ...about, ...(status === 'paused' && { pausedReason }) }
}

interface EndpointReading extends CronicornReading {
  readonly group: string
  readonly names: Set<string>
  readonly where: string
}

function scheduleOf(endpoint: unknown, reading: EndpointReading): Pick<Draft, 'schedules' | 'left'> {
  const { where, names, group, now, kinds } = reading
  const refused = (why: string) => ({ schedules: [], left: [{ where, what: 'the endpoint', why }] })
  if (!isFields(endpoint) || typeof endpoint.name !== 'string') return refused('it has no name')
  if (endpoint.archivedAt != null) return refused('it is archived')
  const notes: Left[] = []
  const note = (what: string, why: string) => void notes.push({ where, what, why, isTaken: true })
  const target = targetOf(endpoint, note)
  if (target === null) return refused('it has no url')
  const [wrong] = kindOf(target, kinds)?.problems(target) ?? []
  if (wrong !== undefined) return refused(`${wrong.field} ${wrong.problem} (expected: ${wrong.expected})`)
  const name = names.has(endpoint.name) ? `${group}-${endpoint.name}` : endpoint.name
  if (names.has(name)) return refused(`another endpoint is called ${shown(name)}`)
  const spec = specOf(endpoint, { name, group, queue: reading.queue, target }, note)
  if (spec === null) return refused('it has neither a cron nor an interval')
  const { group: _, ...others } = spec
  const why = whyUnsound(others, now)
  if (why !== null) return refused(why)
  names.add(name)
  for (const [field, said] of Object.entries(noCounterpart)) {
    if (endpoint[field] != null && endpoint[field] !== 0) note(`${field} ${shown(endpoint[field])}`, said)
  }
  const until = typeof endpoint.pausedUntil === 'string' ? instantOf(endpoint.pausedUntil) : null
  const isPaused = until !== null && 'at' in until && until.at > now
  const pause = isPaused ? { pausedReason, pausedUntil: until.at } : {}
  return { schedules: [{ from: where, spec, ...pause }], left: notes }
}

type Note = (what: string, why: string) => void

function targetOf(endpoint: Fields, note: Note): { readonly http: object } | null {
  const { url, method, headersJson, bodyJson, maxResponseSizeKb } = endpoint
  if (typeof url !== 'string') return null
  const { min, max } = keepBytesRange
  const asked = typeof maxResponseSizeKb === 'number' ? maxResponseSizeKb * 1_024 : undefined
  const keepBytes = asked === undefined ? undefined : Math.min(max, Math.max(min, asked))
  if (keepBytes !== asked) note(`maxResponseSizeKb ${shown(maxResponseSizeKb)}`, `${keepBytes} bytes are kept`)
  const hasHeaders = isFields(headersJson) && Object.keys(headersJson).length > 0
  if (hasHeaders) note('headers', 'they are stored as they stand; write credentials as { secret: NAME }')
  const given = { url, method, headers: hasHeaders ? headersJson : undefined, body: bodyJson ?? undefined, keepBytes }
  return { http: onlyGiven(given) }
}

const timeoutRangeMs = { min: 1_000, max: 1_800_000 }

function specOf(
  endpoint: Fields,
  named: Pick<ScheduleSpec, 'name' | 'group' | 'queue' | 'target'>,
  note: Note,
): ScheduleSpec | null {
  const { baselineCron, baselineIntervalMs, minIntervalMs, maxIntervalMs, timeoutMs, description } = endpoint
  const isCron = typeof baselineCron === 'string' && baselineCron !== ''
  if (!isCron && typeof baselineIntervalMs !== 'number') return null
  if (isCron && baselineIntervalMs != null) note('baselineIntervalMs', 'its cron is used instead')
  const timing = isCron ? { cron: baselineCron, zone: 'UTC' } : { everyMs: baselineIntervalMs as number }
  const own = typeof timeoutMs === 'number' ? timeoutMs : undefined
  const { min, max } = timeoutRangeMs
  const timeout = own === undefined ? undefined : Math.min(max, Math.max(min, own))
  if (timeout !== own) note(`timeoutMs ${shown(timeoutMs)}`, `an attempt may take ${timeout} ms`)
  const spec = {
    ...named,
    timing,
    minMs: minIntervalMs ?? undefined,
    maxMs: maxIntervalMs ?? undefined,
    description: typeof description === 'string' && description !== '' ? description : undefined,
    // A failed call was not tried again before its next instant.
    options: onlyGiven({ timeoutMs: timeout, maxAttempts: 1 }),
  }
  return onlyGiven(spec) as unknown as ScheduleSpec
}
