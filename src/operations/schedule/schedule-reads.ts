import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { listLedger, listSchedules, scheduleVersions } from '../../store/reads/find-schedule.ts'
import { hintsWithOutcomes } from '../../store/reads/hint-outcomes.ts'
import { schedulesWhere } from '../../store/reads/schedules-where.ts'
import { clockNow } from '../../store/statement.ts'
import type { LedgerView } from '../../store/views.ts'
import type { Ask } from '../door-facts.ts'
import { limit, scheduleName } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { instant, isoText } from '../input/instant.ts'
import { refuse } from '../input/refuse-input.ts'
import { behindLast } from '../next-page.ts'
import { presentSchedule } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import { outrankedBy } from './explained-hint.ts'
import { changesBetween, definitionOf, type Schedule, scheduleOf } from './schedule-answer.ts'
import {
  hintSchema,
  ledgerRow,
  scheduleSchema,
  scheduleStanding,
  scheduleVersion,
  upcomingRun,
} from './schedule-schema.ts'
import { standingOf, standingShown } from './schedule-standing.ts'
import { hintsShown, historyShown, schedulesShown, upcomingShown, versionsShown } from './show.ts'
import { readUpcoming } from './upcoming.ts'

const looking = {
  noun: 'schedule',
  effect: 'read',
  scope: 'read',
  takes: ['name'],
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
} as const

const nameOrId = scheduleName.describe('The name of the schedule, or the id of a deleted one.')

export const get = operation({
  ...looking,
  verb: 'get',
  method: 'GET',
  defaultTool: 'Show one schedule: timing, target, payload, rules and state.',
  command: ['schedule', 'show'],
  says: 'Show a schedule by its name, or a deleted one by its id.',
  request: 'a request for a schedule',
  input: z.strictObject({ name: nameOrId }),
  output: scheduleStanding,
  show: standingShown,
  examples: [{ name: 'nightly' }],
  run: async (context, { name }) => standingOf(context, await presentSchedule(context, name)),
})

export const list = operation({
  ...looking,
  verb: 'list',
  method: 'GET',
  defaultTool: 'List schedules with their timing, next run and whether they are paused or failing.',
  says: 'List schedules by name, a page at a time; those paused without end only with all, deleted ones by id.',
  request: 'a list of schedules',
  input: z.strictObject({
    after: z.string().describe('The last name of the previous page; for deleted schedules the last id.').optional(),
    limit: limit.optional(),
    deleted: z.boolean().describe('List only deleted schedules. Default: false.').optional(),
    group: z.string().describe('Only of this group.').optional(),
    tag: z.string().describe('Only with this tag.').optional(),
    failing: z.boolean().describe('Only failing ones.').optional(),
    hinted: z.boolean().describe('Only hinted ones.').optional(),
    paused: z.boolean().describe('Only paused ones.').optional(),
    all: z.boolean().describe('Also those paused without end.').optional(),
  }),
  takes: [],
  output: z.array(scheduleSchema),
  show: schedulesShown,
  errors: ['invalid'],
  examples: [{}, { after: 'nightly', limit: 20 }, { failing: true, tag: 'daily' }],
  nextPage: behindLast<Schedule>(({ id, name, deletedAt }) =>
    deletedAt === null ? { after: name } : { after: id, deleted: true },
  ),
  async judge({ store }, { value, problems: found }) {
    const { deleted = false, after, limit: most, ...filter } = value
    const beside = Object.keys(onlyGiven(filter)).map((field) => {
      return { field, problem: 'is given beside `deleted`', expected: 'one of the two' }
    })
    refuse('The list of schedules', [...found, ...(deleted ? beside : [])])
    const page = onlyGiven({ after, limit: most })
    const listed = deleted
      ? await store.look(listSchedules, { ...page, deleted })
      : await store.look(schedulesWhere, { ...page, ...onlyGiven(filter) })
    return listed.map(scheduleOf)
  },
})

const nextCountDefault = 10

export const next = operation({
  ...looking,
  verb: 'next',
  says: 'Show the next occurrences of a schedule, computed as the engine computes them.',
  request: 'a request for the next occurrences',
  input: z.strictObject({
    name: nameOrId,
    count: z.int().min(1).max(1_000).describe(`How many. Default: ${nextCountDefault}.`).optional(),
  }),
  output: z.array(upcomingRun),
  show: upcomingShown,
  examples: [{ name: 'nightly', count: 5 }],
  async run(context, { name, count = nextCountDefault }) {
    const schedule = await presentSchedule(context, name)
    return readUpcoming(context.store, { now: await context.store.look(clockNow), schedule, count })
  },
})

export const history = operation({
  ...looking,
  verb: 'history',
  says: 'Show how the occurrences of a schedule ended, newest first.',
  request: 'a request for the history',
  input: z.strictObject({
    name: nameOrId,
    before: instant
      .describe('Only occurrences before this instant: the from of the last row of the previous page.')
      .optional(),
    limit: limit.optional(),
  }),
  output: z.array(ledgerRow),
  show: historyShown,
  examples: [
    { name: 'nightly', limit: 20 },
    { name: 'nightly', before: '2026-12-01T09:00Z' },
  ],
  nextPage: behindLast<LedgerView>(({ from }) => ({ before: isoText(from) })),
  async run(context, { name, ...page }) {
    await presentSchedule(context, name)
    return context.store.look(listLedger, name, onlyGiven(page))
  },
})

export const hints = operation({
  ...looking,
  verb: 'hints',
  says: 'List the hints of a schedule, newest first: author, reason, effect and outcome.',
  request: 'a request for hints',
  input: z.strictObject({ name: nameOrId }),
  output: z.array(hintSchema),
  show: hintsShown,
  examples: [{ name: 'nightly' }],
  async run(context, { name }) {
    const schedule = await presentSchedule(context, name)
    const now = await context.store.look(clockNow)
    return (await context.store.look(hintsWithOutcomes, name)).map((hint) => {
      const above = outrankedBy(hint, schedule.hints, now)
      return { ...hint, ...(above !== null && { outrankedBy: above }) }
    })
  },
})

export const versions = operation({
  ...looking,
  verb: 'versions',
  says: 'List the versions of a schedule with their authors, newest first.',
  request: 'a request for versions',
  input: z.strictObject({ name: nameOrId }),
  output: z.array(scheduleVersion),
  show: versionsShown,
  examples: [{ name: 'nightly' }],
  async run(context, { name }) {
    await presentSchedule(context, name)
    const found = await context.store.look(scheduleVersions, name)
    return found.map((version, index) => {
      const content = definitionOf(version.content)
      // The list is newest first, so the previous version follows.
      const before = found[index + 1]
      const changed =
        before === undefined ? Object.keys(content) : changesBetween(before.content, version.content).changed
      return { ...version, content, changed: [...changed] }
    })
  },
})

/** The zone of the schedule that an answer holds. */
export function zoneIn(answer: unknown): string | null | undefined {
  const { schedule } = (answer ?? {}) as { readonly schedule?: Partial<Schedule> | string }
  if (typeof schedule !== 'object') return undefined
  return schedule.cron === undefined ? null : (schedule.zone ?? null)
}

/** The zone of a schedule with a calendar; null where it has none, or is not there any more. */
export async function zoneOfSchedule(ask: Ask, name: unknown): Promise<string | null> {
  if (typeof name !== 'string') return null
  try {
    const { cron, zone } = await ask(get, { name })
    return cron === undefined ? null : (zone ?? null)
  } catch (error) {
    // The call whose answer is shown may have deleted the schedule.
    if (error instanceof BelfryError && error.code === 'not-found') return null
    throw error
  }
}
