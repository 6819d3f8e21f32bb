import { z } from 'zod'
import { formatId, parseId } from '../../core/id.ts'
import { defaultPolicy, type Policy } from '../../core/queue/policy.ts'
import { isJudged, judgeRules, type RuleAnswer, withJudged } from '../../core/rules.ts'
import { invalid } from '../../store/check.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { findScheduleRow } from '../../store/reads/find-schedule.ts'
import type { Ends, MovedSchedule } from '../../store/runs/end-hooks.ts'
import { enqueueFrom } from '../../store/runs/enqueue.ts'
import { lockNamedSchedule, type ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { all, both, clockNow, one, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { act, findMemory, isAnswer, memoryOf, notJudged, rulesOf, saveRuleMemory } from './judge-ends.ts'
import { bodyOf } from './rules-field.ts'

/** The queue for judgements of siblings. */
export const rulesQueue = 'rules'
export const rulesPolicy: Policy = Object.freeze({ ...defaultPolicy, maxConcurrent: 5 })

const watch = both(
  'rules watch',
  'insert into belfry.rule_watch (ns, sibling, schedule) values ($1, $2, $3) on conflict do nothing',
)
const unwatch = both('rules unwatch', 'delete from belfry.rule_watch where ns = $1 and sibling = $2 and schedule = $3')
const findWatchers = both(
  'rules find watchers',
  'select schedule from belfry.rule_watch where ns = $1 and sibling = $2 order by schedule',
)

/** A sibling's run that the rules of a schedule must judge. */
interface SiblingRun {
  readonly schedule: string
  readonly sibling: string
  readonly run: string
}

/**
 * Records which siblings' ends a schedule's rules need, in the transaction that writes the schedule. A name that is not a sibling is
 * refused.
 */
export function* watchSiblings(context: StoreContext, written: object): Step<void> {
  const spec = written as Partial<ScheduleRow['spec']>
  const siblings = new Set((spec.rules ?? []).flatMap(({ sibling }) => sibling ?? []))
  for (const sibling of siblings) {
    const found = yield* findScheduleRow(context, sibling)
    const group = spec.group ?? null
    const isSibling =
      found !== null && found.deletedAt === null && found.name !== spec.name && found.spec.group === group
    if (group === null || !isSibling) {
      const whose = group === null ? 'and this schedule has no group' : `which is no other schedule of group ${group}`
      const index = (spec.rules ?? []).findIndex((rule) => rule.sibling === sibling)
      const field = `rules[${index}] (${spec.rules?.[index]?.name}).sibling`
      throw invalid(field, `is ${JSON.stringify(sibling)}, ${whose}`, 'a schedule of the same group')
    }
    yield* run(watch, context.ns, sibling, spec.name as string)
  }
}

/**
 * Enqueues the judgement of answers for the schedules whose rules need them. Only a schedule in a group can have such rules, so other
 * schedules cost nothing.
 */
export function* enqueueJudgements(
  context: StoreContext,
  { ends, schedules }: Pick<Ends<MovedSchedule>, 'ends' | 'schedules'>,
): Step<void> {
  for (const end of ends) {
    const before = isAnswer(end) ? schedules.get(end.scheduleId ?? 0)?.before : undefined
    if (before === undefined || before.spec.group === undefined) continue
    for (const { schedule } of yield* all<{ schedule: string }>(findWatchers, before.ns, before.name)) {
      const rules: SiblingRun = { schedule, sibling: before.name, run: formatId('run', end.runId) }
      yield* enqueueFrom({ ...context, ns: before.ns }, 'rules', {
        queue: rulesQueue,
        target: { rules },
        onExhausted: 'fail',
      })
    }
  }
}

enqueueJudgements.skipsPlain = true as const

/** Judges an answer of a sibling, once: a second attempt sees that it was judged. Returns the outcome, for the result of the run. */
export function* judgeSibling(
  context: StoreContext,
  { schedule, sibling, run: runId }: SiblingRun,
): Step<{ judged: string }> {
  const row = yield* lockNamedSchedule(context, schedule)
  const theirs = row === null ? null : yield* findScheduleRow(context, sibling)
  const rules =
    row === null || theirs === null || row.spec.group === undefined || row.spec.group !== theirs.spec.group
      ? []
      : rulesOf(row)
  if (row === null || theirs === null || !rules.some((rule) => rule.sibling === sibling)) {
    yield* run(unwatch, context.ns, sibling, schedule)
    return { judged: 'no rule of it names the sibling any more' }
  }
  const found = yield* findRun(context, runId)
  if (found === null || notJudged.has(found.source)) return { judged: 'the run is no answer' }
  const now = yield* clockNow()
  const memory = memoryOf((yield* one(findMemory, row.id)) ?? {})
  const number = parseId('run', runId) ?? 0
  if (isJudged(memory, sibling, number)) return { judged: 'a later answer was judged before' }
  const told = (found.result?.value ?? {}) as { readonly status?: unknown; readonly durationMs?: unknown }
  const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined)
  const answer: RuleAnswer = {
    sibling,
    body: bodyOf(found.target, found.result?.value),
    status: found.target?.http === undefined ? undefined : numberIn(told.status),
    failures: theirs.failureCount,
    durationMs: numberIn(told.durationMs),
  }
  const { won, memory: after } = judgeRules({ now, rules, memory: withJudged(memory, sibling, number), answer })
  const seen = won === null ? null : { ...won, reason: `${sibling}: ${won.reason}` }
  const acted = seen === null ? after : yield* act(context, row, { now, won: seen, memory: after, isAtEnd: false })
  yield* saveRuleMemory(row, acted)
  if (won === null) return { judged: 'no rule fits' }
  return { judged: `rule ${won.rule} acts` }
}

/**
 * Judgements of siblings. Only Belfry enqueues them. They are separate runs because the transaction that ends a sibling's run holds no lock
 * on other schedules.
 */
export const rulesKind: TargetKind = {
  name: 'rules',
  called: 'a judgement by rules',
  form: z.strictObject({}),
  problems: () => [],
  closed: 'is enqueued by Belfry when the run of a sibling ends; write `rules` of a schedule',
  words: (target) => {
    const { schedule, sibling } = target.rules as SiblingRun
    return `judges an answer of ${sibling} by the rules of ${schedule}`
  },
  flags: [],
  queue: rulesQueue,
  timeoutMs: 60_000,
  message: 'is a judgement by rules, which takes no messages',
  executor: async ({ store }) => ({
    async execute({ target }) {
      return { facts: {}, result: await store.do(judgeSibling, target.rules as SiblingRun) }
    },
  }),
}
