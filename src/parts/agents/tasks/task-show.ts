import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { type Facts, indented, type Listing, rehearsed, type Sheet } from '../../../operations/show.ts'
import type { Task, TaskWritten } from './task-answer.ts'

const promptWidth = 60

/** `task 3f9c01ab  weekdays 09:00 Europe/Paris, spread +4 min 12 s: next Mon 2026-11-23 09:04:12; budget claude-day; expires never`. */
export function showTaskWritten({ answer, task, budgets }: TaskWritten, sheet: Sheet): string {
  const { paint, isRehearsal } = sheet
  const facts = [
    `${task.timing}${spreadText(task)}: ${task.nextDueAt === null ? '' : 'next '}${nextText(task, sheet)}`,
    budgets.length === 0 ? 'no budget' : `budget ${budgets.map(plainText).join(', ')}`,
    `expires ${task.expiresAt === null ? 'never' : sheet.inZone(task.zone).stamp(task.expiresAt)}`,
  ]
  const named = task.name === `task-${task.id}` ? '' : ` ${plainText(task.name)}`
  const end = isRehearsal ? ` ${rehearsed}` : { created: '', updated: ' (changed)', unchanged: ' (unchanged)' }[answer]
  return `task ${paint.bold(task.id)}${named}  ${facts.join('; ')}${paint.yellow(end)}`
}

/** How far the spread moves the next occurrence. */
function spreadText({ nextAt, nextDueAt }: Task): string {
  const ms = (nextDueAt ?? 0) - (nextAt ?? 0)
  return ms === 0 ? '' : `, spread ${ms > 0 ? '+' : '-'}${exactly(Math.abs(ms))}`
}

/** The whole duration: beside the instant that it leads to, a rounded one would look wrong. */
function exactly(ms: number): string {
  const [minutes, seconds] = [Math.floor(ms / 60_000), Math.round((ms % 60_000) / 1_000)]
  return [minutes > 0 ? [`${minutes} min`] : [], seconds > 0 ? [`${seconds} s`] : []].flat().join(' ') || `${ms} ms`
}

function nextText(task: Task, sheet: Sheet): string {
  const { nextDueAt, status, zone, missedRun, pausedUntil, lastRun, lastEnd } = task
  if (status === 'paused')
    return pausedUntil === null ? 'paused' : `paused until ${sheet.inZone(zone).stamp(pausedUntil)}`
  if (nextDueAt !== null) return stampText(nextDueAt, sheet.inZone(zone), zone !== undefined)
  if (missedRun !== null) return `missed: ${sheet.command('missed', 'run', task.id)}`
  return {
    waiting: 'when its run has ended',
    live: 'its run is not over',
    missed: '',
    // A one-shot that failed has finished too, and a person should not have to look for that.
    finished: lastEnd === null || lastEnd === 'completed' ? 'finished' : `${lastEnd}: ${lastRun}`,
  }[status]
}

/** The instant with its day of the week; the zone is left out if the text before already names it. */
function stampText(at: number, sheet: Sheet, isZoned: boolean): string {
  const day = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: sheet.zone }).format(at)
  const stamp = sheet.stamp(at)
  return `${day} ${isZoned ? stamp.replace(` ${sheet.zone}`, '') : stamp}`
}

function about({ prompt, promptFile }: Task, width: number): string {
  const words = prompt === undefined ? `the prompt in ${promptFile}` : prompt.trim().replace(/\s+/g, ' ')
  return shortText(words, width)
}

export const tasksShown: Listing<readonly Task[], Task> = {
  none: ({ command }) =>
    `No tasks. Create one: ${command('task', 'create', '--in', '20m', '--agent', 'claude', '--prompt', 'Is the deploy healthy?')}`,
  columns: [
    ['TASK', ({ id, name }, { paint }) => paint.bold(name === `task-${id}` ? id : `${id} ${plainText(name)}`)],
    ['WHEN', (task) => `${task.timing}${spreadText(task)}`],
    ['NEXT', nextText],
    ['STATUS', 'status', 'status'],
    ['AGENT', 'agent', 'text'],
    ['PROMPT', (task) => about(task, promptWidth)],
  ],
  below: (tasks, { paint, command }) =>
    tasks.some(({ missedRun }) => missedRun !== null)
      ? paint.yellow(`missed prompts wait for your decision: ${command('missed', 'list')}`)
      : null,
}

export const taskShown: Facts<Task> = {
  head: (task, { paint, status }) => {
    const head = `${paint.bold(`task ${task.id}`)} ${plainText(task.name)}  ${status(task.status)}`
    return [head, indented(about(task, 2_000))].join('\n')
  },
  facts: [
    ['agent', ({ agent, model }) => plainText(model === undefined ? agent : `${agent} (${model})`)],
    ['when', (task) => `${task.timing}${spreadText(task)}`],
    ['next', nextText],
    [
      'nominal',
      ({ nextAt, nextDueAt, zone }, sheet) =>
        nextAt === null || nextAt === nextDueAt ? null : sheet.inZone(zone).stamp(nextAt),
    ],
    ['context', 'context', 'text'],
    ['folder', 'cwd', 'text'],
    ['project', 'project', 'text'],
    ['expires', ({ expiresAt, zone }, sheet) => (expiresAt === null ? 'never' : sheet.inZone(zone).when(expiresAt))],
    ['occurrences', 'runsCount', 'count'],
    ['last run', ({ lastRun, lastEnd }) => lastRun && `${lastRun}${lastEnd === null ? '' : `, ${lastEnd}`}`],
    ['by', ({ author, by }) => plainText(by === 'agent' ? `${author} (an agent)` : author)],
    ['made', 'createdAt', 'when'],
  ],
  below: ({ name }, { paint, command }) => indented(paint.dim(`why: ${command('explain', 'schedule', name)}`)),
}
