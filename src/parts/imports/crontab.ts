import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { Target } from '../../core/target.ts'
import { commandTargetProblems } from '../../targets/command/command-target.ts'
import { type CrontabLine, commandIn, crontabLine, programName } from './crontab-line.ts'
import { type Draft, type DraftedSchedule, type Left, nothing, shown, whyUnsound } from './draft.ts'

export interface CrontabReading {
  /** Whether a user stands before each command. */
  readonly system: boolean
  /** The zone of lines that no setting gives one. */
  readonly zone: string
  readonly queue: string
  /** Stands before every name. */
  readonly prefix: string
  readonly now: number
}

/** Settings that speak to cron and to nobody else. */
const toCron: Readonly<Record<string, string>> = {
  MAILTO: 'Belfry sends no mail: what a command puts out is kept with its run',
  MAILFROM: 'Belfry sends no mail',
  CONTENT_TYPE: 'Belfry sends no mail',
  CONTENT_TRANSFER_ENCODING: 'Belfry sends no mail',
  RANDOM_DELAY: 'commands start at their instants, without a delay',
}

/** Of what is only different from cron: every schedule is made all the same. */
const isTaken = true as const

/** A command may take a day. Cron would let it go on for ever, and here it would hold one of the slots of its queue. */
const timeoutMs = 86_400_000
const descriptionLengthMax = 10_000

/** What is known by the time a line is read. */
interface State {
  readonly env: Record<string, string>
  shell: string
  zone: string
  /** The comments that stand directly before the line, with the numbers of theirs. */
  comments: { readonly line: number; readonly text: string }[]
  readonly names: Map<string, number>
  /** How many commands start where cron would not start them. */
  homeless: number
  readonly left: Left[]
}

/**
 * Reads a crontab into schedules that start its commands, each by the shell as cron does: beside one that has not ended, and
 * not for what was missed. What cron does otherwise, or cannot be had, is told line by line.
 */
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
  // TZ is for the commands alone: no cron reads its calendars by it.
  if (name === 'CRON_TZ') {
    state.zone = value.replace(/^:/, '')
    return
  }
  const [problem] = commandTargetProblems({ command: 'true', env: { [name]: value } })
  if (problem !== undefined) {
    left.push({ where, what, why: `no command is handed it: ${problem.field} ${problem.problem}` })
    return
  }
  if (name === 'SHELL') state.shell = value
  // What it says is not said again: an answer is kept by whoever asked.
  if (secretly.test(name)) left.push({ where, what: shown(name), why: openly, isTaken })
  env[name] = value
}

const secretly = /PASSW|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|API_?KEY|PRIVATE/i
const openly =
  'it is stored as it stands, and shown to whoever may look at a schedule; if it is a secret, name it in the target by { "secret": "NAME" }'

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
  if (job.calendar.startsWith('-'))
    left.push({ where, what: '-', why: 'it kept cron from writing to its log', isTaken })
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

/** The spec but for its name, which is counted only once it is certain that there is one. */
function specOf(
  { calendar, command: text }: Job,
  { state, reading }: CrontabContext,
): { spec: ScheduleSpec } | { why: string } {
  if (/^@reboot$/i.test(calendar)) return { why: 'it runs when the machine starts, which is no instant of a calendar' }
  const cron = calendar.replace(/^-/, '')
  const days = whyOtherDays(cron)
  if (days !== null) return { why: days }
  const command = commandIn(text)
  if (command === null) return { why: 'what stands behind its % would be typed to the command, and nobody types here' }
  const { env, shell, zone } = state
  if (shell === '') return { why: 'its SHELL is empty, so that nothing starts it' }
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

/** Cron takes a day that fits both fields where one of them begins with a star, and a day that fits either elsewhere. */
function whyOtherDays(cron: string): string | null {
  const [, , days = '*', , weekdays = '*'] = cron.split(' ')
  const isStarred = days.startsWith('*') || weekdays.startsWith('*')
  if (days === '*' || weekdays === '*' || !isStarred) return null
  return 'cron takes a day that fits both its day of the month and its weekday, and here either of them would do'
}

/** Lines of one program are told apart by their order: the same file has the same names again. */
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
    tellStrayComments(state, `it is longer than a description may be, which is ${descriptionLengthMax} characters`)
    return null
  }
  state.comments = []
  return text === '' ? null : text
}

function tellStrayComments(state: State, why = 'no line that became a schedule follows directly'): void {
  const [first] = state.comments
  const last = state.comments.at(-1)
  if (first !== undefined && last !== undefined) {
    const where = first === last ? `line ${first.line}` : `lines ${first.line} to ${last.line}`
    state.left.push({ where, what: first === last ? 'a comment' : 'comments', why, isTaken })
  }
  state.comments = []
}

/** What is other than under cron for all commands, or for all that no setting says it of. */
function ofManyLines({ homeless }: State, made: number): Left[] {
  if (made === 0) return []
  const every = 'every line'
  const folder = 'cron starts commands in the home of the user, and Belfry in the folder of the worker'
  const where = homeless === made ? every : 'each line without an absolute HOME'
  return [
    ...(homeless === 0 ? [] : [{ where, what: 'the folder it starts in', why: folder, isTaken }]),
    {
      where: every,
      what: 'how long it may take',
      why: 'a command that has not ended after a day is ended; cron would let it go on',
      isTaken,
    },
  ]
}
