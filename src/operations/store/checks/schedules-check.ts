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
  says: 'Whether schedules are looked at in time. Wrong for each that should have been looked at 1 min ago or more.',
  unblocks: '`belfry up` where no worker is alive; else look at the log of a worker, and `belfry explain schedule`.',
  async look({ store, now, live }) {
    const late = await store.look(overdueSchedules, { lateMs: overdueMsMin, limit })
    if (late.length === 0) return { says: 'Every schedule is looked at in time.' }
    return {
      says: `${late.length === limit ? `At least ${limit} schedules are` : counted(late.length, 'schedule') + (late.length === 1 ? ' is' : ' are')} overdue.`,
      findings: late.map(({ spec: { name }, wakeAt }) => {
        const says = `Schedule ${name} should have been looked at ${about(now - (wakeAt ?? now))} ago.`
        return wrong(name, says, live.length === 0 ? upCommand : belfryCommand('explain', 'schedule', name))
      }),
    }
  },
}

export const chain: HealthCheck = {
  check: 'chain',
  codes: ['broken-chain'],
  says: 'Whether something will wake every active schedule, and let every run through that waits for others. Each finding is wrong, and a defect of Belfry: please report it.',
  unblocks: '`belfry doctor --fix`; a worker does the same every few minutes.',
  mends: 'Asks the governor again, and lets those through who wait for nobody.',
  async look({ store }) {
    const broken = await store.look(brokenParts, limit)
    if (broken.length === 0) return { says: 'Every active schedule will be woken, and nobody waits for nobody.' }
    const findings = broken.map(({ subject, sentence }) => wrong(subject, sentence, fixCommand))
    return { says: 'Something waits for what will never come.', findings }
  },
  async mend({ store }) {
    const broken = await store.look(brokenParts, limit)
    if (broken.length === 0) return []
    const repaired = await store.do(repair, { limit })
    // The step mends for everybody who shares the database, and tells each of his own.
    return broken.flatMap(({ what, subject, sentence }) => {
      const done = repaired.find((one) => one.what === what && one.subject === subject)
      return done === undefined ? [] : [fixed({ subject, state: 'wrong', says: sentence }, done.sentence)]
    })
  },
}

export const handlers: HealthCheck = {
  check: 'handlers',
  says: 'Whether the targets of active schedules can be executed. Wrong when some worker is alive, and none of them that works for its queue has the handler or does the kind of target; where none is alive nothing can be said of it. Schedules without a target are noted: they are for outside hosts, which lease them through a door.',
  unblocks:
    'Start `belfry up`, or the program that registers the handler with `belfry.handle(…)`; or mend its name in the schedule.',
  async look(inspection) {
    const sweep = await inspection.sweep()
    const active = sweep.schedules.filter(({ disabled, isDone }) => disabled === null && !isDone)
    const hostless = inspection.can.host === true ? [] : active.flatMap(withoutTarget)
    if (inspection.live.length === 0) return unknown(active, hostless, inspection)
    const findings = active.flatMap((schedule) => unservedBy(schedule, inspection))
    const says = findings.length === 0 ? 'Live workers can execute what' : 'No live worker can execute some of what'
    return { says: `${says} the schedules ask for${ofSweep(sweep)}.`, findings: [...findings, ...hostless] }
  },
}

function unknown(active: readonly ScheduleHealth[], hostless: readonly Finding[], { kinds }: Inspection): Seen {
  const says = 'No worker is alive, so that nobody knows which handlers there are.'
  const named = active.filter(({ spec }) => {
    const answer = needOf(spec?.target)
    return 'need' in answer && answer.need?.name !== undefined
  })
  const [one] = named
  if (one === undefined) return { says, findings: hostless }
  const many = named.length === 1 ? `Schedule ${one.name} names a handler` : `${named.length} schedules name handlers`
  const found = note(
    'handlers',
    `${many}, and no worker is alive that could have it.`,
    nextOf(wayToServe({ target: one.spec?.target, queue: one.spec?.queue ?? 'default' }, { live: [], kinds })),
  )
  return { says, findings: [found, ...hostless] }
}

/** What cannot be read is told elsewhere. */
function withoutTarget({ name, spec }: ScheduleHealth): Finding[] {
  if (spec === null || spec.target != null) return []
  const says = `Schedule ${name} has no target: its runs are for outside hosts, which lease them through a door.`
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
  return [wrong(name, says, `${way} Or mend the target: ${belfryCommand('schedule', 'update', name)}`)]
}

/** From so many failures in a row on it is wrong: whoever is told by an exit code must hear of it. */
const failuresWrong = 3

export const failing: HealthCheck = {
  check: 'failing',
  says: 'Schedules that failed when they ran last. Noted from the first failure on; wrong from 3 in a row on, and when one was paused for its failures. One that somebody paused, or that is over, stays noted.',
  unblocks: '`belfry explain schedule`; once its cause is mended, `belfry schedule resume` or `belfry schedule run`.',
  async look(inspection) {
    const sweep = await inspection.sweep()
    const failures = sweep.schedules.filter(({ failureCount }) => failureCount > 0)
    const worstFirst = failures.toSorted((a, b) => Number(isWrong(b)) - Number(isWrong(a)))
    const listed = await Promise.all(
      worstFirst.slice(0, findingsMax).map((schedule) => ofFailure(schedule, inspection)),
    )
    const rest = worstFirst.slice(findingsMax).map((schedule) => failureOf(schedule, null))
    const says =
      failures.length === 0 ? 'No schedule failed when it ran last' : 'Some schedules failed when they ran last'
    return { says: `${says}${ofSweep(sweep)}.`, findings: [...listed, ...rest] }
  },
}

/** Only those that are listed are asked for their reasons; what cannot be read has no history that could be. */
async function ofFailure(schedule: ScheduleHealth, { store }: Inspection): Promise<Finding> {
  const last = schedule.spec === null ? null : await lastFailureOf(store, schedule.name)
  return failureOf(schedule, last?.reason ?? null)
}

function failureOf(schedule: ScheduleHealth, reason: string | null): Finding {
  const { name, failureCount } = schedule
  const why = reason === null ? '' : failureCount === 1 ? `: ${reason}` : `, the last time with: ${reason}`
  const paused = isPausedForIt(schedule) ? ' It was paused for it.' : ''
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

/** Every verb reads what is stored before it changes anything. */
const byHand = 'Restore its row of the table schedule from a backup, or by hand from schedule_version.'

export const broken: HealthCheck = {
  check: 'broken',
  says: 'Whether this process can work out every schedule: what is stored can be read, its target is one, and its time zone is known here. Wrong for each that it cannot.',
  unblocks:
    'Write what it names anew with `belfry schedule update`, or install the time zones that this machine lacks. A row that cannot be read at all must be restored from a backup, or by hand from `schedule_version`.',
  async look(inspection) {
    const sweep = await inspection.sweep()
    const findings = sweep.schedules.flatMap(({ name, spec, problem }) => {
      if (problem === null) return []
      const says = `Schedule ${name} cannot be worked out: ${problem}`
      const update = `Write anew what it names: ${belfryCommand('schedule', 'update', name)}`
      return [wrong(name, says, spec === null ? byHand : update)]
    })
    const says = findings.length === 0 ? 'Every schedule can be worked out' : 'Some schedules cannot be worked out'
    return { says: `${says}${ofSweep(sweep)}.`, findings }
  },
}

function ofSweep({ schedules, isCut }: Sweep): string {
  return isCut ? ` (of the first ${schedules.length.toLocaleString('en')}, by name)` : ''
}
