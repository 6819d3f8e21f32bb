import { formatDuration } from '../../../core/duration.ts'
import { canExecute } from '../../../core/plan.ts'
import { needOf } from '../../../core/target.ts'
import type { ScheduleHealth } from '../../../store/health.ts'
import {
  command,
  counted,
  type Examination,
  fixCommand,
  fixed,
  note,
  type Seen,
  upCommand,
  wrong,
} from '../examination.ts'
import type { Finding } from '../output.ts'
import type { Sweep } from '../patient.ts'

const lateMs = 60_000
const limit = 100
const failuresMin = 3

export const overdue: Examination = {
  check: 'overdue',
  means: 'Whether schedules are looked at in time. Wrong for each that should have been looked at over 1 min ago.',
  next: '`belfry up` where no worker is alive; else look at the log of a worker, and `belfry explain schedule`.',
  async look({ store, now, live }) {
    const late = await store.read.overdueSchedules({ lateMs, limit })
    if (late.length === 0) return { says: 'Every schedule is looked at in time.' }
    return {
      says: `${late.length === limit ? `At least ${limit} schedules are` : counted(late.length, 'schedule') + (late.length === 1 ? ' is' : ' are')} overdue.`,
      findings: late.map(({ spec: { name }, wakeAt }) => {
        const says = `Schedule ${name} should have been looked at ${formatDuration(now - (wakeAt ?? now))} ago.`
        return wrong(name, says, live.length === 0 ? upCommand : command('explain', 'schedule', name))
      }),
    }
  },
}

export const chain: Examination = {
  check: 'chain',
  means:
    'Whether something will wake every active schedule, and let every run through that waits for others. Each finding is wrong, and a defect of Belfry: please report it.',
  next: '`belfry doctor --fix`; a worker does the same every few minutes.',
  mends: 'Asks the governor again, and lets those through who wait for nobody.',
  async look({ store }) {
    const broken = await store.read.health.broken(limit)
    if (broken.length === 0) return { says: 'Every active schedule will be woken, and nobody waits for nobody.' }
    const findings = broken.map(({ subject, sentence }) => wrong(subject, sentence, fixCommand))
    return { says: 'Something waits for what will never come.', findings }
  },
  async mend({ store }) {
    const broken = await store.read.health.broken(limit)
    if (broken.length === 0) return []
    const repaired = await store.repair({ limit })
    // The step mends for everybody who shares the database, and tells each of his own.
    return broken.flatMap(({ what, subject, sentence }) => {
      const done = repaired.find((one) => one.what === what && one.subject === subject)
      return done === undefined ? [] : [fixed({ subject, state: 'wrong', says: sentence }, done.sentence)]
    })
  },
}

export const handlers: Examination = {
  check: 'handlers',
  means:
    'Whether the targets of active schedules can be executed. Wrong when some worker is alive, and none of them has the handler or does the kind of target; where none is alive nothing can be said of it.',
  next: 'Start a worker that registers the handler, or mend its name in the schedule.',
  async look(patient) {
    const sweep = await patient.sweep()
    const active = sweep.schedules.filter(({ disabled, isDone }) => disabled === null && !isDone)
    if (patient.live.length === 0) return unknown(active)
    const findings = active.flatMap((schedule) => {
      const unserved = unservedBy(schedule, patient.can)
      return unserved === null ? [] : [wrong(schedule.name, unserved, handlersNext(schedule.name))]
    })
    const says = findings.length === 0 ? 'Live workers can execute what' : 'No live worker can execute some of what'
    return { says: `${says} the schedules ask for${ofSweep(sweep)}.`, findings }
  },
}

function unknown(active: readonly ScheduleHealth[]): Seen {
  const says = 'No worker is alive, so that nobody knows which handlers there are.'
  const named = active.filter(({ spec }) => typeof spec?.target?.handler === 'string')
  if (named.length === 0) return { says }
  const [one] = named
  const many = named.length === 1 ? `Schedule ${one?.name} names a handler` : `${named.length} schedules name handlers`
  return { says, findings: [note('handlers', `${many}, and no worker is alive that could have it.`, upCommand)] }
}

function handlersNext(name: string): string {
  return `Start a worker that registers it, or mend the target: ${command('schedule', 'update', name)}`
}

function unservedBy({ name, spec }: ScheduleHealth, can: Parameters<typeof canExecute>[1]): string | null {
  const answer = spec === null ? null : needOf(spec.target)
  // What has no target waits for hosts, which come and go; what cannot be read is told elsewhere.
  if (answer === null || 'problem' in answer || answer.need === null || canExecute(answer.need, can)) return null
  const { kind, handler } = answer.need
  const needs =
    handler === undefined ? `workers that execute ${kind} targets` : `the handler ${JSON.stringify(handler)}`
  return `Schedule ${name} needs ${needs}, and no live worker has ${handler === undefined ? 'that' : 'it'}.`
}

export const failing: Examination = {
  check: 'failing',
  means: 'Schedules that failed 3 times in a row or more, or were paused for their failures. They are noted.',
  next: '`belfry explain schedule`; once its cause is mended, `belfry schedule resume` or `belfry schedule run`.',
  async look(patient) {
    const sweep = await patient.sweep()
    const findings = sweep.schedules.flatMap((schedule) => failureOf(schedule))
    const says = findings.length === 0 ? 'No schedule fails again and again' : 'Some schedules fail again and again'
    return { says: `${says}${ofSweep(sweep)}.`, findings }
  },
}

function failureOf({ name, spec, failureCount, disabled }: ScheduleHealth): Finding[] {
  const most = spec?.pauseAfterFailures
  const isPausedForIt = disabled !== null && most !== undefined && failureCount >= most
  if (failureCount < failuresMin && !isPausedForIt) return []
  const times = failureCount === 1 ? 'once' : `${failureCount} times in a row`
  const says = `Schedule ${name} failed ${times}${isPausedForIt ? ', and was paused for it' : ''}.`
  const explain = command('explain', 'schedule', name)
  return [note(name, says, isPausedForIt ? `${explain}, then ${command('schedule', 'resume', name)}` : explain)]
}

/** Every verb reads what is stored before it changes anything. */
const byHand = 'Restore its row of the table schedule from a backup, or by hand from schedule_version.'

export const broken: Examination = {
  check: 'broken',
  means:
    'Whether this process can work out every schedule: what is stored can be read, its target is one, and its time zone is known here. Wrong for each that it cannot.',
  next: 'Write what it names anew with `belfry schedule update`, or install the time zones that this machine lacks. A row that cannot be read at all must be restored from a backup, or by hand from `schedule_version`.',
  async look(patient) {
    const sweep = await patient.sweep()
    const findings = sweep.schedules.flatMap(({ name, spec, problem }) => {
      if (problem === null) return []
      const says = `Schedule ${name} cannot be worked out: ${problem}`
      const update = `Write anew what it names: ${command('schedule', 'update', name)}`
      return [wrong(name, says, spec === null ? byHand : update)]
    })
    const says = findings.length === 0 ? 'Every schedule can be worked out' : 'Some schedules cannot be worked out'
    return { says: `${says}${ofSweep(sweep)}.`, findings }
  },
}

function ofSweep({ schedules, isCut }: Sweep): string {
  return isCut ? ` (of the first ${schedules.length.toLocaleString('en')}, by name)` : ''
}
