import { z } from 'zod'
import type { HintView, LedgerView, VersionView } from '../store/view.ts'
import { presentSchedule, throwAbsentSchedule } from './absent.ts'
import type { OperationContext } from './context.ts'
import { readWhole } from './input.ts'
import { instant } from './instant.ts'
import { onlyGiven } from './only-given.ts'
import { definitionOf, type Schedule, type ScheduleDefinition, scheduleOf } from './schedule-view.ts'
import { clearHints, hint, pause, resume, run } from './steer-schedule.ts'
import { type UpcomingRun, upcoming } from './upcoming.ts'
import { create, put, update } from './write-schedule.ts'

/** A schedule by its name; a deleted one by its id. */
async function get(context: OperationContext, name: string): Promise<Schedule> {
  return scheduleOf(await presentSchedule(context, name))
}

const limit = z.int().min(1).max(1_000).optional()
const listInput = z.strictObject({ after: z.string().optional(), limit, deleted: z.boolean().optional() })

/** Schedules by name, after the one that is named; deleted ones by id. */
async function list(context: OperationContext, page: z.input<typeof listInput> = {}): Promise<Schedule[]> {
  const value = readWhole(listInput, page, { subject: 'The list', noun: 'a list of schedules' })
  return (await context.store.read.schedules(onlyGiven(value))).map(scheduleOf)
}

const deleteInput = z.strictObject({ cancelLeased: z.boolean().optional() })

/** Deletes a schedule; its name is free at once. What is at work finishes, unless it is to be cancelled. */
async function remove(
  context: OperationContext,
  name: string,
  options: z.input<typeof deleteInput> = {},
): Promise<{ readonly name: string; readonly deleted: true }> {
  const value = readWhole(deleteInput, options, { subject: 'The deletion', noun: 'a deletion' })
  const answer = await context.store.deleteSchedule(name, { ...onlyGiven(value), actor: context.actor })
  if (answer === 'not-found') return throwAbsentSchedule(context, name)
  context.waits.lookAtAll()
  return { name, deleted: true }
}

const nextInput = z.strictObject({ count: z.int().min(1).max(1_000).optional() })
const nextCountDefault = 10

/** The occurrences to come, by the function that the engine asks. */
async function next(
  context: OperationContext,
  name: string,
  input: z.input<typeof nextInput> = {},
): Promise<UpcomingRun[]> {
  const { count = nextCountDefault } = readWhole(nextInput, input, { subject: 'The question', noun: 'a look ahead' })
  const schedule = await presentSchedule(context, name)
  return upcoming({ now: await context.store.read.now(), schedule, count })
}

const historyInput = z.strictObject({ before: instant.optional(), limit })

/** How the occurrences of a schedule ended, newest first; those before an instant. */
async function history(
  context: OperationContext,
  name: string,
  page: z.input<typeof historyInput> = {},
): Promise<LedgerView[]> {
  const value = readWhole(historyInput, page, { subject: 'The history', noun: 'a history' })
  await presentSchedule(context, name)
  return context.store.read.ledger(name, onlyGiven(value))
}

/** The hints that a schedule was given, newest first. */
async function hints(context: OperationContext, name: string): Promise<HintView[]> {
  await presentSchedule(context, name)
  return context.store.read.hints(name)
}

/** What a schedule said, when and by whom, newest first. */
async function versions(context: OperationContext, name: string): Promise<VersionView<ScheduleDefinition>[]> {
  await presentSchedule(context, name)
  const found = await context.store.read.scheduleVersions(name)
  return found.map((version) => ({ ...version, content: definitionOf(version.content) }))
}

/** The verbs of a schedule. */
export const scheduleVerbs = {
  /** Creates a schedule. The same again changes nothing; a name that has another spec is refused. */
  create,
  /** Creates a schedule, or makes the one that has its name be like this; says what changed. */
  put,
  /** Changes what is named of a schedule: `null` takes a field away, a new timing replaces the old one. */
  update,
  /** A schedule by its name; a deleted one by its id. */
  get,
  /** Schedules by name, a page at a time. */
  list,
  /** Deletes a schedule; its name is free at once. What is at work finishes, unless it is to be cancelled. */
  delete: remove,
  /** Stops a schedule for a while, until an instant, or until it is resumed. What is at work finishes. */
  pause,
  /** Ends every pause of a schedule. What passed meanwhile is not made up for. */
  resume,
  /** Makes a run of a schedule now, beside its occurrences. */
  run,
  /** The occurrences to come, by the function that the engine asks. */
  next,
  /** How the occurrences of a schedule ended, newest first. */
  history,
  /** Gives a schedule a hint, in place of the one of its kind. */
  hint,
  /** Takes hints away; the schedule goes on as if they had never been given. */
  clearHints,
  /** The hints that a schedule was given, newest first. */
  hints,
  /** What a schedule said, when and by whom, newest first. */
  versions,
}
