import { cron } from '../../../core/cron/cron.ts'
import { isRecord } from '../../../core/json/record.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { objectIn } from './plain-file.ts'

/** The file in which Claude Code keeps its durable tasks. */
export const claudeFile = '.claude/scheduled_tasks.json'
/** Claude removes a recurring task after this time, unless it is permanent. */
const lastsMs = 7 * 86_400_000

const known = new Set(['id', 'cron', 'prompt', 'createdAt', 'lastFiredAt', 'recurring', 'permanent', 'durable'])

/** A task of Claude, with its position in the file. */
export interface ClaudeTask {
  readonly id: string
  readonly from: string
  /** The entry as the file has it. */
  readonly entry: Readonly<Record<string, unknown>>
  /** The fields as `task create` takes them, or why the task cannot be imported. */
  readonly given: Readonly<Record<string, unknown>> | { readonly why: string }
  /** Fields that Belfry does not know. */
  readonly strange: readonly string[]
}

interface Moment {
  readonly now: number
  readonly zone: string
}

/** Reads the tasks of a file. A file that is not in Claude's format is refused whole. */
export function claudeTasks(path: string, text: string, moment: Moment): ClaudeTask[] {
  const { tasks } = objectIn(path, text)
  const problems: Problem[] = []
  if (!Array.isArray(tasks)) {
    problems.push({ field: 'tasks', problem: tasks === undefined ? 'is missing' : 'is no list', expected: 'a list' })
  }
  const read = (Array.isArray(tasks) ? tasks : []).map((entry, index) => taskOf(entry, `tasks[${index}]`, problems))
  refuse(path, problems)
  return (read as Omit<ClaudeTask, 'given'>[]).map((task) => ({ ...task, given: givenOf(task, moment) }))
}

function taskOf(entry: unknown, from: string, problems: Problem[]): Omit<ClaudeTask, 'given'> | null {
  if (!isRecord(entry)) {
    problems.push({ field: from, problem: 'is no object', expected: 'a task' })
    return null
  }
  const wants = { id: 'string', cron: 'string', prompt: 'string', createdAt: 'number', recurring: 'boolean' }
  for (const [field, type] of Object.entries({ ...wants, permanent: 'boolean' })) {
    if (field === 'createdAt' && !isInstant(entry[field] ?? 0)) {
      problems.push({ field: `${from}.${field}`, problem: 'is no instant', expected: 'milliseconds since 1970' })
      continue
    }
    const isOptional = type !== 'string' && entry[field] === undefined
    if (!isOptional && typeof entry[field] !== type) {
      const problem = entry[field] === undefined ? 'is missing' : `is no ${type}`
      problems.push({ field: `${from}.${field}`, problem, expected: `a ${type}` })
    }
  }
  const strange = Object.keys(entry).filter((field) => !known.has(field))
  return { id: String(entry.id), from, entry, strange }
}

function isInstant(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 8e15
}

/** Claude's crons are in the zone of the machine; a one-shot is a cron that fires once. */
function givenOf({ entry }: Pick<ClaudeTask, 'entry'>, { now, zone }: Moment): ClaudeTask['given'] {
  const {
    cron: expression,
    prompt,
    createdAt = now,
    recurring = true,
    permanent = false,
  } = entry as {
    readonly cron: string
    readonly prompt: string
    readonly createdAt?: number
    readonly recurring?: boolean
    readonly permanent?: boolean
  }
  if (recurring) {
    const expiresAt = createdAt + lastsMs
    if (!permanent && expiresAt <= now) return { why: `it expired at ${isoText(expiresAt)}` }
    return { cron: expression, zone, prompt, ...(!permanent && { expiresAt: isoText(expiresAt) }) }
  }
  const at = firstOf(expression, zone, createdAt)
  if (typeof at === 'string') return { why: at }
  return at <= now ? { why: `its instant has passed: ${isoText(at)}` } : { at: isoText(at), prompt }
}

function firstOf(expression: string, zone: string, afterMs: number): number | string {
  try {
    return cron(expression, zone).next(afterMs) ?? `its cron ${expression} never matches`
  } catch (error) {
    return `its cron ${expression} cannot be read: ${(error as Error).message}`
  }
}
