import { canExecute } from '../../../core/queue/plan-leases.ts'
import { needOf } from '../../../core/target.ts'
import { overdueMsMin } from '../../../core/timing/overdue.ts'
import type { ScheduleHealth } from '../../../store/health-views.ts'
import { overdueSchedules } from '../../../store/reads/find-schedule.ts'
import { brokenParts } from '../../../store/reads/health/broken-parts.ts'
import { repair } from '../../../store/schedules/repair.ts'
import { wayToMeet, wayToServe } from '../../explain/fleet.ts'
import { about } from '../../explain/words.ts'
import { lastFailureOf, timesFailed } from '../../schedule/last-failure.ts'
import { belfryCommand } from '../../shell-words.ts'
import type { Finding } from '../diagnosis.ts'
import {
  counted,
  findingsMax,
  fixCommand,
  fixed,
  type HealthCheck,
  nextOf,
  note,
  type Seen,
  upCommand,
  wrong,
} from '../health-check.ts'
import type { Inspection, Sweep } from '../inspection.ts'

const limit = 100

export const overdue: HealthCheck = {
  check: 'overdue',
  codes: ['overdue'],
  says: 'Whether schedules are fired in time. Wrong: each schedule that is overdue by 1 min or more.',
  unblocks: 'Start `belfry up` when no worker is alive; else read the log of a worker, and `belfry explain schedule`.',
  async look({ store, now, live }) {
    const late = await store.look(overdueSchedules, { lateMs: overdueMsMin, limit })
    if (late.length === 0) return { says: 'Every schedule is fired in time.' }
    return {
      says: `${late.length === limit ? `At least ${limit} schedules are` : counted(late.length, 'schedule') + (late.length === 1 ? ' is' : ' are')} overdue.`,
      findings: late.map(({ spec: { name }, wakeAt }) => {
        const says = `Schedule ${name} has been overdue for ${about(now - (wakeAt ?? now))}.`
        return wrong(name, says, live.length === 0 ? upCommand : belfryCommand('explain', 'schedule', name))
      }),
    }
  },
}

export const chain: HealthCheck = {
  check: 'chain',
  codes: ['broken-chain'],
  says: 'Whether every active schedule has a next instant or a live run, and every run that waits for another waits for a live one. Each finding is wrong, and is a defect of Belfry: please report it.',
  unblocks: '`belfry doctor --fix`; a worker repairs the same every few minutes.',
  mends: 'Plans the schedule again, and releases runs that wait for no live run.',
  async look({ store }) {
    const broken = await store.look(brokenParts, limit)
    if (broken.length === 0) return { says: 'Every active schedule has a next instant or a live run.' }
    const findings = broken.map(({ subject, sentence }) => wrong(subject, sentence, fixCommand))
    return { says: 'A schedule or run waits for an event that will never come.', findings }
  },
  async mend({ store }) {
    const broken = await store.look(brokenParts, limit)
    if (broken.length === 0) return []
    const repaired = await store.do(repair, { limit })
    // The step repairs every namespace in the database, and returns the findings of this one.
    return broken.flatMap(({ what, subject, sentence }) => {
      const done = repaired.find((one) => one.what === what && one.subject === subject)
      return done === undefined ? [] : [fixed({ subject, state: 'wrong', says: sentence }, done.sentence)]
    })
  },
}

export const handlers: HealthCheck = {
  check: 'handlers',
  says: 'Whether live workers can execute the targets of active schedules. Wrong: a worker is alive, but none that works for the queue has the handler or the target kind. Without a live worker this is not known. Schedules without a target are noted: outside hosts lease their runs through a door.',
  unblocks:
    'Start `belfry up`, or the program that registers the handler with `belfry.handle(…)`; or correct the name in the schedule.',
  async look(inspection) {
    const sweep = await inspection.sweep()
    const active = sweep.schedules.filter(({ disabled, isDone }) => disabled === null && !isDone)
    const hostless = inspection.can.host === true ? [] : active.flatMap(withoutTarget)
    if (inspection.live.length === 0) return unknown(active, hostless, inspection)
    const findings = active.flatMap((schedule) => unservedBy(schedule, inspection))
    const says = findings.length === 0 ? 'Live workers can execute' : 'No live worker can execute some of'
    return { says: `${says} the targets of the schedules${ofSweep(sweep)}.`, findings: [...findings, ...hostless] }
  },
}

function unknown(active: readonly ScheduleHealth[], hostless: readonly Finding[], { kinds }: Inspection): Seen {
  const says = 'No worker is alive, so it is not known which handlers exist.'
  const laneKind = ({ spec }: ScheduleHealth) => {
    const answer = needOf(spec?.target)
    return 'need' in answer && answer.need?.name !== undefined ? [answer.need.kind] : []
  }
  const named = active.filter((schedule) => laneKind(schedule).length > 0)
  const [one] = named
  if (one === undefined) return { says, findings: hostless }
  const [first, ...others] = new Set(named.flatMap(laneKind))
  const called = kinds.find(({ name }) => name === first)?.called ?? `the ${first}`
  const plurals = [first, ...others].map((kind) => `${kind}s`).join(' or ')
  const many = named.length === 1 ? `Schedule ${one.name} names ${called}` : `${named.length} schedules name ${plurals}`
  const found = note(
    'handlers',
    `${many}, and no worker is alive that could have ${named.length === 1 ? 'it' : 'them'}.`,
    nextOf(wayToServe({ target: one.spec?.target, queue: one.spec?.queue ?? 'default' }, { live: [], kinds })),
  )
  return { says, findings: [found, ...hostless] }
}

/** Schedules that cannot be read are reported by another check. */
function withoutTarget({ name, spec }: ScheduleHealth): Finding[] {
  if (spec === null || spec.target != null) return []
  const says = `Schedule ${name} has no target: outside hosts lease its runs through a door.`
  return [note(name, says, `Give it a target: ${belfryCommand('schedule', 'update', name)}`)]
}

function unservedBy({ name, spec }: ScheduleHealth, inspection: Inspection): Finding[] {
  const answer = spec === null ? null : needOf(spec.target)
  if (answer === null || 'problem' in answer || answer.need === null) return []
  const queue = spec?.queue ?? 'default'
  if (canExecute(answer.need, inspection.canIn(queue))) return []
  const { kind, name: lane } = answer.need
  const needs = lane === undefined ? `workers that execute ${kind} targets` : `the ${kind} ${JSON.stringify(lane)}`
  const whom = canExecute(answer.need, inspection.can) ? ` that works for its queue ${queue}` : ''
  const says = `Schedule ${name} needs ${needs}, and no live worker${whom} has ${lane === undefined ? 'that' : 'it'}.`
  const way = nextOf(wayToMeet(answer.need, queue, inspection))
  if (lane === undefined) return [wrong(name, says, way)]
  return [wrong(name, says, `${way} Or change the target: ${belfryCommand('schedule', 'update', name)}`)]
}

/** From this many failures in a row on the finding counts as wrong, so that the exit code shows it. */
const failuresWrong = 3

export const failing: HealthCheck = {
  check: 'failing',
  says: 'Schedules whose last run failed. Noted: from the first failure. Wrong: from 3 failures in a row, and when Belfry paused the schedule for its failures. A schedule that was paused by hand, or has ended, is only noted.',
  unblocks: '`belfry explain schedule`; once the cause is fixed, `belfry schedule resume` or `belfry schedule run`.',
  async look(inspection) {
    const sweep = await inspection.sweep()
    const failures = sweep.schedules.filter(({ failureCount }) => failureCount > 0)
    const worstFirst = failures.toSorted((a, b) => Number(isWrong(b)) - Number(isWrong(a)))
    const listed = await Promise.all(
      worstFirst.slice(0, findingsMax).map((schedule) => ofFailure(schedule, inspection)),
    )
    const rest = worstFirst.slice(findingsMax).map((schedule) => failureOf(schedule, null))
    const says = failures.length === 0 ? 'The last run of no schedule failed' : 'The last run of some schedules failed'
    return { says: `${says}${ofSweep(sweep)}.`, findings: [...listed, ...rest] }
  },
}

/** Reasons are read only for the listed schedules; a schedule that cannot be read has no readable history. */
async function ofFailure(schedule: ScheduleHealth, { store }: Inspection): Promise<Finding> {
  const last = schedule.spec === null ? null : await lastFailureOf(store, schedule.name)
  return failureOf(schedule, last?.reason ?? null)
}

function failureOf(schedule: ScheduleHealth, reason: string | null): Finding {
  const { name, failureCount } = schedule
  const why = reason === null ? '' : failureCount === 1 ? `: ${reason}` : `, last with: ${reason}`
  const paused = isPausedForIt(schedule) ? ' Belfry paused it for that.' : ''
  const says = `Schedule ${name} ${timesFailed(failureCount)}${why}.${paused}`
  const explain = belfryCommand('explain', 'schedule', name)
  const next = isPausedForIt(schedule) ? `${explain}, then ${belfryCommand('schedule', 'resume', name)}` : explain
  return (isWrong(schedule) ? wrong : note)(name, says, next)
}

function isWrong(schedule: ScheduleHealth): boolean {
  const { failureCount, disabled, isDone } = schedule
  return isPausedForIt(schedule) || (failureCount >= failuresWrong && disabled === null && !isDone)
}

function isPausedForIt({ spec, failureCount, disabled }: ScheduleHealth): boolean {
  const most = spec?.pauseAfterFailures
  return disabled !== null && most !== undefined && failureCount >= most
}

/** Every verb reads the stored row first, so no verb can repair it. */
const byHand = 'Restore its row of the table schedule from a backup, or by hand from schedule_version.'

export const broken: HealthCheck = {
  check: 'broken',
  says: 'Whether this process can compute every schedule: the row is readable, the target is valid, and the time zone is known here. Wrong: each schedule that it cannot compute.',
  unblocks:
    'Write the field that the finding names again with `belfry schedule update`, or install the time zones that this machine lacks. Restore an unreadable row from a backup, or by hand from `schedule_version`.',
  async look(inspection) {
    const sweep = await inspection.sweep()
    const findings = sweep.schedules.flatMap(({ name, spec, problem }) => {
      if (problem === null) return []
      const says = `Schedule ${name} cannot be computed: ${problem}`
      const update = `Write the field that it names again: ${belfryCommand('schedule', 'update', name)}`
      return [wrong(name, says, spec === null ? byHand : update)]
    })
    const says = findings.length === 0 ? 'Every schedule can be computed' : 'Some schedules cannot be computed'
    return { says: `${says}${ofSweep(sweep)}.`, findings }
  },
}

function ofSweep({ schedules, isCut }: Sweep): string {
  return isCut ? ` (of the first ${schedules.length.toLocaleString('en')}, by name)` : ''
}
