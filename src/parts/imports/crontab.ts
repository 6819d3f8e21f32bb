import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { Target } from '../../core/target.ts'
import { commandTargetProblems } from '../../targets/command/command-target.ts'
import { type CrontabLine, commandIn, crontabLine, programName } from './crontab-line.ts'
import { type Draft, type DraftedSchedule, type Left, nothing, shown, whyUnsound } from './draft.ts'

export interface CrontabReading {
  /** Whether each line has a user before its command. */
  readonly system: boolean
  /** The time zone of lines without CRON_TZ. */
  readonly zone: string
  readonly queue: string
  /** The prefix of every name. */
  readonly prefix: string
  readonly now: number
}

/** Settings that only cron uses. */
const toCron: Readonly<Record<string, string>> = {
  MAILTO: 'Belfry sends no mail: the output of a command is kept with its run',
  MAILFROM: 'Belfry sends no mail',
  CONTENT_TYPE: 'Belfry sends no mail',
  CONTENT_TRANSFER_ENCODING: 'Belfry sends no mail',
  RANDOM_DELAY: 'commands start at their instants, without a delay',
}

/** Differences from cron, with which the schedule is still created. */
const isTaken = true as const

/** A command may take a day. Cron would let it run for ever, and here it would hold a slot of its queue. */
const timeoutMs = 86_400_000
const descriptionLengthMax = 10_000

/** The state while lines are read. */
interface State {
  readonly env: Record<string, string>
  shell: string
  zone: string
  /** The comments directly before the line, with their line numbers. */
  comments: { readonly line: number; readonly text: string }[]
  readonly names: Map<string, number>
  /** How many commands start in another folder than under cron. */
  homeless: number
  readonly left: Left[]
}

/** Reads a crontab into schedules that start its commands with the shell, as cron does: runs may overlap, and missed instants are skipped. Everything that differs from cron, or is not supported, is reported by line. */
export function draftOfCrontab(text: string, reading: CrontabReading): Draft {
  const { zone } = reading
  const state: State = {
    ...{ env: {}, shell: '/bin/sh', zone, comments: [] },
    ...{ names: new Map(), homeless: 0, left: [] },
  }
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const schedules = lines.flatMap((line, index): DraftedSchedule[] => {
    return lineRead(crontabLine(line, reading), index + 1, { state, reading })
  })
  tellStrayComments(state)
  return { ...nothing, schedules, left: [...state.left, ...ofManyLines(state, schedules.length)] }
}

interface CrontabContext {
  readonly state: State
  readonly reading: CrontabReading
}

function lineRead(line: CrontabLine, number: number, { state, reading }: CrontabContext): DraftedSchedule[] {
  const where = `line ${number}`
  if (line.kind === 'comment') {
    state.comments.push({ line: number, text: line.text })
    return []
  }
  if (line.kind === 'job') return jobRead(line, where, { state, reading })
  tellStrayComments(state)
  if (line.kind === 'setting') settingRead(line, where, state)
  if (line.kind === 'stray') state.left.push({ where, what: 'the line', why: line.why })
  return []
}

type Setting = Extract<CrontabLine, { kind: 'setting' }>

function settingRead({ name, value }: Setting, where: string, state: State): void {
  const { left, env } = state
  const what = `${shown(name)}=${shown(value)}`
  const why = Object.hasOwn(toCron, name) ? toCron[name] : undefined
  if (why !== undefined) {
    left.push({ where, what, why, isTaken })
    return
  }
  // TZ is for the commands only: no cron uses it for its calendars.
  if (name === 'CRON_TZ') {
    state.zone = value.replace(/^:/, '')
    return
  }
  const [problem] = commandTargetProblems({ command: 'true', env: { [name]: value } })
  if (problem !== undefined) {
    left.push({ where, what, why: `no command gets it: ${problem.field} ${problem.problem}` })
    return
  }
  if (name === 'SHELL') state.shell = value
  // The value is not repeated here: the answer may be stored by the caller.
  if (secretly.test(name)) left.push({ where, what: shown(name), why: openly, isTaken })
  env[name] = value
}

const secretly = /PASSW|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|API_?KEY|PRIVATE/i
const openly =
  'it is stored as it is, and visible to every reader of a schedule; if it is a secret, name it in the target as { "secret": "NAME" }'

type Job = Extract<CrontabLine, { kind: 'job' }>

function jobRead(job: Job, where: string, { state, reading }: CrontabContext): DraftedSchedule[] {
  const { left } = state
  const drafted = specOf(job, { state, reading })
  if ('why' in drafted) {
    tellStrayComments(state)
    left.push({ where, what: 'the line', why: drafted.why })
    return []
  }
  const { user } = job
  if (user !== null)
    left.push({ where, what: `user ${shown(user)}`, why: 'commands run as the user of the worker', isTaken })
  if (job.calendar.startsWith('-')) left.push({ where, what: '-', why: 'it disabled logging by cron', isTaken })
  const description = descriptionOf(state)
  const name = nameFor(job, { state, reading })
  const spec = { ...drafted.spec, name, ...(description !== null && { description }) }
  const why = whyUnsound(spec, reading.now)
  if (why !== null) {
    left.push({ where, what: description === null ? 'the line' : 'the line, with the comments before it', why })
    return []
  }
  if (spec.target?.cwd === undefined) state.homeless += 1
  return [{ from: where, spec }]
}

/** The spec without its name, which is numbered only once the spec is valid. */
function specOf(
  { calendar, command: text }: Job,
  { state, reading }: CrontabContext,
): { spec: ScheduleSpec } | { why: string } {
  if (/^@reboot$/i.test(calendar))
    return { why: 'it runs when the machine starts, which is not an instant of a calendar' }
  const cron = calendar.replace(/^-/, '')
  const days = whyOtherDays(cron)
  if (days !== null) return { why: days }
  const command = commandIn(text)
  if (command === null) return { why: 'the text after its % would be the input of the command, which is not supported' }
  const { env, shell, zone } = state
  if (shell === '') return { why: 'its SHELL is empty, so it cannot start' }
  const { HOME: home } = env
  const target: Target = {
    command: shell === '/bin/sh' ? command : [shell, '-c', command],
    ...(home?.startsWith('/') === true && { cwd: home }),
    ...(Object.keys(env).length > 0 && { env: { ...env } }),
  }
  const [problem] = commandTargetProblems(target)
  if (problem !== undefined) return { why: `its ${problem.field} ${problem.problem}` }
  const spec: ScheduleSpec = {
    name: 'job',
    timing: { cron, zone },
    overlap: 'allow',
    missed: 'skip',
    queue: reading.queue,
    target,
    options: { timeoutMs },
  }
  const why = whyUnsound(spec, reading.now)
  return why === null ? { spec } : { why }
}

/** When one of the day fields begins with a star, cron takes days that match both; otherwise days that match either. */
function whyOtherDays(cron: string): string | null {
  const [, , days = '*', , weekdays = '*'] = cron.split(' ')
  const isStarred = days.startsWith('*') || weekdays.startsWith('*')
  if (days === '*' || weekdays === '*' || !isStarred) return null
  return 'cron runs on days that match both the day of the month and the weekday; Belfry would run on days that match either'
}

/** Lines of one program are numbered by their order: the same file gives the same names again. */
function nameFor({ command }: Job, { state, reading }: CrontabContext): string {
  const base = `${reading.prefix}${programName(command)}`
  let count = (state.names.get(base) ?? 0) + 1
  while (count > 1 && state.names.has(`${base}-${count}`)) count += 1
  state.names.set(base, count)
  const name = count === 1 ? base : `${base}-${count}`
  if (count > 1) state.names.set(name, 1)
  return name
}

function descriptionOf(state: State): string | null {
  const text = state.comments
    .map((comment) => comment.text)
    .join('\n')
    .trim()
  if (text.length > descriptionLengthMax) {
    tellStrayComments(state, `it is longer than a description, which may have ${descriptionLengthMax} characters`)
    return null
  }
  state.comments = []
  return text === '' ? null : text
}

function tellStrayComments(state: State, why = 'no line that became a schedule follows it directly'): void {
  const [first] = state.comments
  const last = state.comments.at(-1)
  if (first !== undefined && last !== undefined) {
    const where = first === last ? `line ${first.line}` : `lines ${first.line} to ${last.line}`
    state.left.push({ where, what: first === last ? 'a comment' : 'comments', why, isTaken })
  }
  state.comments = []
}

/** Differences from cron for all commands, or for all without a setting. */
function ofManyLines({ homeless }: State, made: number): Left[] {
  if (made === 0) return []
  const every = 'every line'
  const folder = 'cron starts commands in the home of the user, Belfry in the folder of the worker'
  const where = homeless === made ? every : 'each line without an absolute HOME'
  return [
    ...(homeless === 0 ? [] : [{ where, what: 'the folder it starts in', why: folder, isTaken }]),
    {
      where: every,
      what: 'its timeout',
      why: 'a command is stopped after a day; cron would let it run',
      isTaken,
    },
  ]
}
