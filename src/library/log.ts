import { type Logger, type LoggerOptions, pino } from 'pino'
import { formatDuration } from '../core/duration.ts'
import {
  type AttemptName,
  type EngineEvents,
  type EventLine,
  type EventLines,
  type EventName,
  type Events,
  errorSentence,
  type KernelEvents,
  type RunEnded,
} from '../engine/events.ts'
import { partLines } from '../parts-face.ts'

const of = ({ runId, fence }: Pick<AttemptName, 'runId' | 'fence'>) => `Run ${runId}, attempt ${fence},`
const after = ({ durationMs, reason, source }: RunEnded) => `after ${span(durationMs)}: ${reason}${by(source)}`
/** Why the run exists, where that is known. */
const by = (source: string) => (source === '' ? '' : ` (${source})`)
const iso = (at: number) => new Date(at).toISOString()

/** The work that a hold keeps from starting. */
function held(on: string, reason: string): string {
  if (on === 'namespace') return reason === 'stopped' ? 'Everything is stopped' : 'Everything is held'
  return `Work on ${on} is held`
}

function span(ms: number): string {
  return formatDuration(Math.max(0, Math.round(ms)))
}

function afterTakingBack({ status, reason, nextEligibleAt }: EngineEvents['run.reclaimed']): string {
  if (status === 'parked') return `it is parked until it is reset: ${reason}`
  if (status !== 'ready') return `it is ${status} now: ${reason}`
  return `it is retried ${nextEligibleAt === undefined ? 'at once' : `at ${iso(nextEligibleAt)}`}`
}

/**
 * Every event of the kernel with its level and its sentence. The type requires all of them, so that an event without a line does
 * not compile; `docs/events.md` shows the same list to people.
 */
const kernelLines: EventLines<keyof KernelEvents> = {
  'run.started': {
    level: 'debug',
    say: (event) => `${of(event)} started ${span(event.latenessMs)} after it was due (${event.source}).`,
  },
  'run.completed': { level: 'info', say: (event) => `${of(event)} completed ${after(event)}.` },
  'run.failed': { level: 'error', say: (event) => `${of(event)} failed for good ${after(event)}.` },
  'run.parked': { level: 'error', say: (event) => `${of(event)} is parked until it is reset, ${after(event)}.` },
  'run.cancelled': { level: 'info', say: (event) => `${of(event)} was cancelled ${after(event)}.` },
  'run.skipped': { level: 'info', say: (event) => `${of(event)} was skipped: ${event.reason}${by(event.source)}.` },
  'run.used': {
    level: 'debug',
    say: ({ runId, fence, kind, name, usage: { tokensIn = 0, tokensOut = 0 } }) =>
      `Run ${runId}, attempt ${fence}, of ${kind} ${name} used ${tokensIn} tokens in and ${tokensOut} out.`,
  },
  'run.retrying': {
    level: 'warn',
    say: (event) =>
      `${of(event)} ended ${after(event)}; the next attempt ${event.nextEligibleAt === undefined ? 'may start at once' : `starts at ${iso(event.nextEligibleAt)}`}.`,
  },
  'run.lease-lost': {
    level: 'warn',
    say: (event) =>
      event.because === 'taken-back'
        ? `${of(event)} was stopped here: its lease was reclaimed.`
        : `${of(event)} was stopped here: its lease could not be renewed in time.`,
  },
  'run.forgotten': {
    level: 'warn',
    say: (event) => `${of(event)} ended, but how is unknown: its run was removed before its end could be read.`,
  },
  'run.unsettled': {
    level: 'error',
    say: (event) => `The end of ${of(event).replace(/,$/, '')} could not be written.`,
  },
  'run.reclaimed': {
    level: 'warn',
    say: (event) =>
      `${of(event)} was reclaimed, because ${event.because === 'expired' ? 'its lease expired' : 'its worker is dead'}; ${afterTakingBack(event)}.`,
  },
  'schedule.fired': {
    level: 'debug',
    say: ({ schedule, runId, occurrenceAt, source }) =>
      `Schedule ${schedule} fired ${runId} for ${iso(occurrenceAt)}${by(source)}.`,
  },
  'schedule.asked': {
    level: 'warn',
    say: ({ schedules }) =>
      `${schedules.length === 1 ? 'A one-shot was' : `${schedules.length} one-shots were`} missed and ${schedules.length === 1 ? 'waits' : 'wait'} for your decision: \`belfry missed list\`.`,
  },
  'schedule.skipped': {
    level: 'info',
    say: ({ schedule, from, count, reason }) =>
      `Schedule ${schedule} skipped ${count} ${count === 1 ? 'occurrence' : 'occurrences'} from ${iso(from)} on: ${reason}.`,
  },
  'schedule.broken': {
    level: 'error',
    say: ({ schedule }) => `Schedule ${schedule} cannot be evaluated here; the worker tries again in a minute.`,
  },
  'schedule.overdue': {
    level: 'warn',
    say: ({ schedule, overdueMs }) => `Schedule ${schedule} is overdue by ${span(overdueMs)}.`,
  },
  'hold.put': {
    level: 'warn',
    say: ({ hold, on, by, note, from, until, reason }) =>
      `${held(on, reason)} by ${by} from ${iso(from)} on${until === null ? '' : ` until ${iso(until)}`} (${hold})${note === null ? '' : `: ${note.replace(/\.$/, '')}`}.`,
  },
  'hold.lifted': {
    level: 'warn',
    say: ({ hold, on, because }) => `Hold ${hold} on ${on} ${because === 'ended' ? 'has ended' : 'was lifted'}.`,
  },
  'store.repaired': { level: 'warn', say: ({ sentence }) => sentence },
  'store.unavailable': {
    level: 'error',
    say: ({ doing, error }) => `The store did not answer (${doing}); retrying: ${error.message.replace(/\.$/, '')}.`,
  },
  'store.back': { level: 'warn', say: ({ afterMs }) => `The store answers again, after ${span(afterMs)}.` },
  'store.hears': {
    level: 'warn',
    say: ({ hears }) =>
      hears
        ? 'Notifications from other processes arrive again.'
        : 'Notifications from other processes do not arrive; the worker polls every second.',
  },
  'clock.jumped': { level: 'warn', say: ({ byMs }) => `The wall clock jumped by ${byMs} ms.` },
  'clock.held': {
    level: 'warn',
    say: ({ behindMs }) =>
      `The wall clock went back by ${span(behindMs)}: nothing fires until it has caught up, for a minute at most.`,
  },
  'door.failed': {
    level: 'error',
    say: ({ error }) => `A request could not be answered: ${errorSentence(error)}`,
  },
  'worker.started': {
    level: 'info',
    say: ({ workerId, slots }) => `Worker ${workerId} started${slots === null ? '' : ` with ${slots} slots`}.`,
  },
  'worker.halted': {
    level: 'warn',
    say: ({ workerId, reason }) => `Worker ${workerId} fires and leases nothing: ${reason.replace(/\.$/, '')}.`,
  },
  'worker.resumed': { level: 'warn', say: ({ workerId }) => `Worker ${workerId} fires and leases again.` },
  'worker.stopping': {
    level: 'info',
    say: ({ workerId, running, graceMs }) =>
      `Worker ${workerId} is stopping; ${running} still running may finish within ${formatDuration(graceMs)}.`,
  },
  'worker.waiting': {
    level: 'info',
    say: ({ workerId, running, graceMs }) =>
      `Worker ${workerId} waits for ${running} still running, for at most ${formatDuration(graceMs)}.`,
  },
  'worker.stopped': {
    level: 'info',
    say: ({ workerId, forced }) =>
      `Worker ${workerId} stopped${forced === 0 ? '' : `; ${forced} at work had to be stopped`}.`,
  },
  'worker.pruned': {
    level: 'debug',
    say: ({ runs, ledger, other }) =>
      `Retention removed ${runs} runs, ${ledger} rows of the ledger and ${other} other rows.`,
  },
  'worker.failed': {
    level: 'error',
    say: ({ loop }) => `The loop ${loop} hit a defect of Belfry; it continues after a pause.`,
  },
}

/** The lines of all events, including those of parts. */
export const lines: EventLines = { ...kernelLines, ...partLines }

/** `false` for silence, the program's own logger, or options for one. */
export type LogOption = false | Logger | LoggerOptions

/** By default a library logs only problems, and to stderr. */
const levelDefault = 'warn'
const standardError = 2

export function loggerOf(log: LogOption = {}): Logger {
  if (log === false) return pino({ level: 'silent' })
  const serializers = { error: pino.stdSerializers.err }
  if (isLogger(log)) return log.child({}, { serializers })
  const options = { level: levelDefault, ...log, serializers: { ...serializers, ...log.serializers } }
  // Options with a transport name their own destination.
  return log.transport === undefined ? pino(options, pino.destination(standardError)) : pino(options)
}

function isLogger(log: Logger | LoggerOptions): log is Logger {
  return typeof (log as Partial<Logger>).child === 'function' && typeof (log as Partial<Logger>).info === 'function'
}

/** Writes a line for every event, under its name. */
export function logEvents(events: Events, logger: Logger): void {
  for (const name of Object.keys(lines) as EventName[]) logEvent(events, logger, name)
}

function logEvent<Name extends EventName>(events: Events, logger: Logger, name: Name): void {
  const { level, say } = lines[name] as EventLine<EngineEvents[Name]>
  const write = (event: EngineEvents[Name]) => {
    // There may be tens of thousands of events a second whose level is disabled.
    if (logger.isLevelEnabled(level)) logger[level]({ event: name, ...event } as object, say(event))
  }
  events.on(name, write as never)
}
