import type { Rule } from '../../core/rule-form.ts'
import { boundedMemory, type JudgedRules, judgeRules, type RuleAnswer, type RuleMemory } from '../../core/rules.ts'
import type { Ends, RunEnd } from '../../store/runs/end-hooks.ts'
import { lockSchedules, type ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { all, both, dialects, type Row, runEach, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { bodyOf } from './rules-field.ts'
import { steer } from './steer.ts'

const findMemories = both(
  'rules find memories',
  ({ numbers }) => `select d.id, d.source, m.memory from belfry.run d
    left join belfry.rule_memory m on m.schedule_id = d.schedule_id where d.id ${numbers('$1')}`,
)
const onConflict = 'on conflict (schedule_id) do update set memory = excluded.memory'
const saveMemories = dialects('rules save memories', {
  sqlite: `insert into belfry.rule_memory (schedule_id, ns, memory) values ($1, $2, $3) ${onConflict}`,
  postgres: `insert into belfry.rule_memory (schedule_id, ns, memory)
    select * from unnest($1::bigint[], $2::bigint[], $3::text[]) ${onConflict}`,
})

/** The sources of runs that say nothing about the schedule as it is now: a person tests it, or backfills past days. */
export const notJudged: ReadonlySet<unknown> = new Set(['test', 'backfill'])
const beside: ReadonlySet<string> = new Set(['run-now', 'retry', 'routine'])

/**
 * Judges the answers of runs by the rules of their schedules. This happens in the transaction that ends the runs, before the schedules are
 * planned, so that the very next instant follows the rules. A schedule without rules costs nothing.
 */
export function* judgeEnds(
  context: StoreContext,
  { now, ends, schedules }: Ends<ScheduleRow>,
): Step<readonly number[]> {
  const judged = ends.flatMap((end) => {
    const row = isAnswer(end) ? schedules.get(end.scheduleId ?? 0) : undefined
    return row === undefined || row.deletedAt !== null || rulesOf(row).length === 0 ? [] : [{ end, row }]
  })
  if (judged.length === 0) return []
  const found = yield* all(findMemories, JSON.stringify(judged.map(({ end }) => end.runId)))
  const rows = new Map(found.map((row) => [row.id as number, row]))
  const memories = new Map<number, RuleMemory>()
  const written = new Map<number, ScheduleRow>()
  for (const { end, row: given } of judged) {
    // An earlier answer in this step may have written the schedule.
    const row = written.get(given.id) ?? given
    const known = rows.get(end.runId)
    if (known === undefined || notJudged.has(known.source)) continue
    const memory = memories.get(row.id) ?? memoryOf(known)
    const isBeside = beside.has(known.source as string)
    const answer = answerOf(now, end, row, isBeside)
    const { won, memory: after } = judgeRules({ now, rules: rulesOf(row), memory, answer })
    memories.set(row.id, after)
    if (won === null) continue
    memories.set(row.id, yield* act(context, row, { now, won, memory: after, isAtEnd: !isBeside }))
    for (const [id, after] of yield* lockSchedules([row.id], { wait: true })) written.set(id, after)
  }
  const changed = judged.flatMap(({ end, row }) => {
    const memory = memories.get(row.id)
    if (memory === undefined) return []
    memories.delete(row.id)
    const text = JSON.stringify(memory)
    // The same answer as before leaves the memory unchanged, so there is nothing to write.
    return text === rows.get(end.runId)?.memory ? [] : [[row.id, row.ns, text]]
  })
  yield* runEach(saveMemories, changed)
  return [...written.keys()]
}
judgeEnds.skipsPlain = true as const

interface Acting {
  readonly now: number
  readonly won: NonNullable<JudgedRules['won']>
  readonly memory: RuleMemory
  /**
   * Whether the answer comes from the end of an occurrence of this schedule, and not from a sibling or from a run beside its occurrences.
   */
  readonly isAtEnd: boolean
}

/** Carries out the effect of a rule. If a bound forbids the effect, the trail says so; the end of the run is valid in both cases. */
export function* act(context: StoreContext, row: ScheduleRow, { now, won, memory, isAtEnd }: Acting): Step<RuleMemory> {
  const author = { kind: 'rule', name: won.rule } as const
  const steered = yield* steer(context, row, { now, author, effect: won.effect, reason: won.reason, isAtEnd })
  if (steered.answer === 'done') return memory
  const why = `it ${steered.refusal.problem}`
  const trail = memory.trail?.map((one) => (one.rule === won.rule ? { ...one, effect: 'unfit' as const, why } : one))
  return trail === undefined ? memory : boundedMemory({ ...memory, trail })
}

export function* saveRuleMemory({ id, ns }: ScheduleRow, memory: RuleMemory): Step<void> {
  yield* runEach(saveMemories, [[id, ns, JSON.stringify(memory)]])
}

/** Whether the run has ended with an answer of its own, whether it succeeded or failed. */
export function isAnswer({ isOver, fence, status }: RunEnd): boolean {
  return isOver && fence > 0 && status !== 'cancelled' && status !== 'skipped'
}

export function rulesOf({ spec }: Pick<ScheduleRow, 'spec'>): readonly Rule[] {
  return spec.rules ?? []
}

/** A memory that cannot be read is replaced by an empty one. */
export function memoryOf({ memory }: Row): RuleMemory {
  try {
    return typeof memory === 'string' ? (JSON.parse(memory) as RuleMemory) : {}
  } catch {
    return {}
  }
}

function answerOf(now: number, { result, status, startedAt }: RunEnd, row: ScheduleRow, isBeside: boolean): RuleAnswer {
  const told = (result ?? {}) as { readonly status?: unknown; readonly durationMs?: unknown }
  const isHttp = row.spec.target?.http !== undefined
  const took = typeof told.durationMs === 'number' ? told.durationMs : startedAt == null ? undefined : now - startedAt
  const counted = isBeside ? row.failureCount : status === 'completed' ? 0 : row.failureCount + 1
  return {
    sibling: null,
    body: bodyOf(row.spec.target, result),
    status: isHttp && typeof told.status === 'number' ? told.status : undefined,
    failures: counted,
    durationMs: took === undefined ? undefined : Math.max(0, Math.round(took)),
  }
}

export const findMemory = both('rules find memory', 'select memory from belfry.rule_memory where schedule_id = $1')
