import { formatDuration } from '../../core/duration.ts'
import { parseId } from '../../core/id.ts'
import type { RuleMemory } from '../../core/rules.ts'
import { rankNames, rankOf } from '../../core/schedule/hint-author.ts'
import { isoText } from '../../operations/input/instant.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { ExplainedPart, ScheduleInQuestion } from '../../operations/part.ts'
import { outrankedBy } from '../../operations/schedule/explained-hint.ts'
import { listHints } from '../../store/reads/find-schedule.ts'
import { one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { HintView } from '../../store/views.ts'
import { findMemory, memoryOf, rulesOf } from './judge-ends.ts'

/** The memory of a schedule's rules, and the last result of each rule. */
export function* ruleMemory(_: StoreContext, scheduleId: string): Step<RuleMemory> {
  const row = yield* one(findMemory, parseId('schedule', scheduleId))
  return row === undefined ? {} : memoryOf(row)
}

/** The rules of a schedule: the hint in force with its reason, and the last result of each rule. */
export async function explainRules(
  { store }: OperationContext,
  { schedule, now, candidates }: ScheduleInQuestion,
): Promise<ExplainedPart> {
  const rules = rulesOf(schedule)
  if (rules.length === 0) return { title: 'Rules', lines: [] }
  const memory = await store.look(ruleMemory, schedule.id)
  const hints = await store.look(listHints, schedule.id)
  const baseline = candidates.find(({ by, effect }) => by === 'baseline' && effect === 'lost')?.at ?? null
  const otherwise = baseline === null ? '' : `, else ${isoText(baseline)}`
  const standing = hints.filter(({ by, ended, expiresAt }) => by === 'rule' && ended === null && expiresAt > now)
  const acting = standing.map((hint) => {
    const above = outrankedBy(hint, schedule.hints, now)
    const rank = above === null ? otherwise : `, but a hint of ${rankNames[rankOf(above)]} outranks it until that ends`
    return `rule ${hint.author}: ${hint.reason}: ${inWords(hint)}${rank}`
  })
  const won = new Set(standing.map(({ author }) => author))
  const trail = (memory.trail ?? []).filter(({ rule, effect }) => !(effect === 'won' && won.has(rule)))
  const judged = trail.map(({ rule, effect, why }) => `rule ${rule}: ${effects[effect]}${why}`)
  const unjudged = memory.at === undefined ? ['They are judged when a run ends; none has ended yet.'] : []
  return { title: 'Rules', lines: [...acting, ...judged, ...unjudged] }
}

const effects = { won: 'fitted last: ', lost: 'fits too: ', unfit: 'does not act: ' } as const

function inWords({ kind, value, expiresAt }: HintView): string {
  return kind === 'interval'
    ? `every ${formatDuration(value)} until ${isoText(expiresAt)}`
    : `once at ${isoText(value)}`
}
