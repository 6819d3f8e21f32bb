import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { name, runId } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { type Problem, quoted, refuse } from '../../operations/input/refuse-input.ts'
import { everyDoor, operation, subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { list } from '../../operations/run/run-reads.ts'
import { type AnswerOf, flag, text } from '../../operations/schema/output-schema.ts'
import { resetRun } from '../../store/runs/reset-run.ts'
import { showManyReset } from './show.ts'

const idsMax = 1_000
const limitDefault = 100
const noSuchRun = 'there is no such run'

/** Resets parked runs, by id or by a filter; each run in a step of its own. */
const manyReset = z.strictObject({
  reset: z.array(z.string()).describe('The ids of the reset runs.'),
  left: z
    .array(z.strictObject({ id: text('The id of the run.'), why: text('Why it was not reset.') }))
    .describe('The runs that were not reset.'),
  more: flag('Whether there may be more: repeat the call.'),
})

export type ManyReset = AnswerOf<typeof manyReset>

export const reset = operation({
  noun: 'sched',
  verb: 'reset',
  idempotent: true,
  says: 'Reset parked runs: those named, or those of a queue, a schedule or a reason.',
  request: 'a reset of runs',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({
    ids: z.array(runId).min(1).max(idsMax).readonly().describe('The ids of the runs.').optional(),
    queue: name.describe('All parked runs of this queue.').optional(),
    schedule: name.describe('All parked runs of this schedule.').optional(),
    reasonIncludes: z.string().min(1).max(200).describe('Only runs whose reason contains this text.').optional(),
    limit: z.int().min(1).max(idsMax).describe('How many at most. Default: 100.').optional(),
  }),
  takes: [],
  output: manyReset,
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
  show: showManyReset,
  examples: [{ ids: ['r-11', 'r-12'] }, { queue: 'mail', reasonIncludes: '503' }],
  async judge(context, { value, problems }) {
    refuse(subjectOf('a reset of runs'), [...problems, ...aimProblems(value)])
    const { ids, limit = limitDefault } = value
    if (ids !== undefined) return answered({ ...(await resetAll(context, ids)), more: false })
    const { found, more } = await parkedRuns(context, value, limit)
    if (found.length === 0 && !more) throw nothingParked(value)
    return answered({ ...(await resetAll(context, found)), more })
  },
})

const leftShownMax = 10

/** Named runs of which none was parked are a conflict, so that a script notices. */
function answered(answer: ManyReset): ManyReset {
  const { reset: done, left } = answer
  if (done.length > 0 || left.length === 0) return answer
  const shown = left.slice(0, leftShownMax).map(({ id, why }) => `${id}: ${why}`)
  const rest = left.length > leftShownMax ? `; and ${left.length - leftShownMax} more` : ''
  const isAbsent = left.every(({ why }) => why === noSuchRun)
  throw new BelfryError(isAbsent ? 'not-found' : 'conflict', `No run was reset. ${shown.join('; ')}${rest}.`, {
    hint: '`belfry run list --status parked` lists the runs that can be reset.',
    details: { left },
  })
}

/** A filter that matches no parked run is a conflict too, so that a script notices. */
function nothingParked({ queue, schedule, reasonIncludes }: Filter): BelfryError {
  const of = [
    ...(queue === undefined ? [] : [`of queue ${quoted(queue)}`]),
    ...(schedule === undefined ? [] : [`of schedule ${quoted(schedule)}`]),
    ...(reasonIncludes === undefined ? [] : [`with ${quoted(reasonIncludes)} in its reason`]),
  ]
  return new BelfryError('conflict', `No run was reset. No run ${of.join(' ')} is parked.`, {
    hint: '`belfry run list --status parked` lists the runs that can be reset.',
    details: { left: [], ...onlyGiven({ queue, schedule, reasonIncludes }) },
  })
}

interface Filter {
  readonly ids?: readonly string[] | undefined
  readonly queue?: string | undefined
  readonly schedule?: string | undefined
  readonly reasonIncludes?: string | undefined
  readonly limit?: number | undefined
}

function aimProblems({ ids, queue, schedule, reasonIncludes, limit }: Filter): Problem[] {
  if (ids === undefined) {
    if (queue !== undefined || schedule !== undefined) return []
    return [
      {
        field: 'ids',
        problem: 'is missing',
        expected: 'the ids of runs, or a queue or schedule whose parked runs to reset',
      },
    ]
  }
  return Object.entries({ queue, schedule, reasonIncludes, limit }).flatMap(([field, given]) => {
    return given === undefined ? [] : [{ field, problem: 'is given beside `ids`', expected: 'only one of the two' }]
  })
}

/** The most pages that are searched for runs parked for a certain reason. */
const pagesMax = 10

async function parkedRuns(context: OperationContext, { queue, schedule, reasonIncludes }: Filter, limit: number) {
  const found: string[] = []
  let before: string | undefined
  for (let pages = 0; pages < pagesMax; pages++) {
    const filter = onlyGiven({ queue, schedule, before })
    const page = await list.call(context, { ...filter, status: 'parked', limit: idsMax })
    for (const { id, parked } of page.runs) {
      if (reasonIncludes !== undefined && !parked?.reason.includes(reasonIncludes)) continue
      if (found.length === limit) return { found, more: true }
      found.push(id)
    }
    if (page.next === null) return { found, more: false }
    before = page.next
  }
  return { found, more: true }
}

async function resetAll({ store }: OperationContext, ids: readonly string[]): Promise<Omit<ManyReset, 'more'>> {
  const reset: string[] = []
  const left: { id: string; why: string }[] = []
  for (const id of new Set(ids)) {
    const answer = await store.do(resetRun, id)
    if (answer === 'ready') reset.push(id)
    else left.push({ id, why: answer === 'not-found' ? noSuchRun : 'it is not parked' })
  }
  return { reset, left }
}
