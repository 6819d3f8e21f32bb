import { isInForce } from '../../../core/hold.ts'
import { parseId } from '../../../core/id.ts'
import { isRecord } from '../../../core/json/record.ts'
import { isoText } from '../../../operations/input/instant.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import type { ExplainedPart, ScheduleInQuestion } from '../../../operations/part.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { ScheduleView } from '../../../store/views.ts'
import { explainRules } from '../explain-rules.ts'
import { plannerQueue } from '../looks/analysis-kind.ts'
import { lookFacts } from '../looks/look-facts.ts'
import { findLook, type LookRow } from '../looks/look-rows.ts'
import { autonomyOf, findPlanner, type PlannerRow } from '../planner-row.ts'

interface Standing {
  readonly planner: PlannerRow | null
  readonly autonomy: string
  readonly look: LookRow | null
  readonly fields: readonly string[]
}

function* standingOf(context: StoreContext, schedule: ScheduleView): Step<Standing> {
  const planner = yield* findPlanner(context)
  const autonomy = yield* autonomyOf(context, schedule as never)
  const look = yield* findLook(parseId('schedule', schedule.id) ?? 0)
  const facts = planner === null ? null : yield* lookFacts(context, schedule.spec.name, autonomy, null)
  return { planner, autonomy, look, fields: fieldsOf(facts?.responses[0]?.responseBody) }
}

function fieldsOf(body: string | undefined): string[] {
  try {
    const read: unknown = JSON.parse(body ?? '')
    return isRecord(read) ? Object.keys(read).slice(0, 20) : []
  } catch {
    return []
  }
}

/** What is known of a schedule by its rules and its planner, in one list. */
export async function explainPlanner(context: OperationContext, question: ScheduleInQuestion): Promise<ExplainedPart> {
  const rules = await explainRules(context, question)
  const { store } = context
  const { planner, autonomy, look, fields } = await store.look(standingOf, question.schedule)
  if (planner === null && question.schedule.spec.autonomy === undefined) return rules
  const holds = await store.look(holdsOn, { queue: plannerQueue })
  const held = holds.find((hold) => isInForce(hold, question.now))
  const why = whyNot({ planner, autonomy }, held)
  const lines = [
    `planner: autonomy ${autonomy}${planner === null ? '' : `, by ${planner.spec.provider} ${planner.spec.model}`}`,
    ...(look?.lookedAt == null ? [] : [`planner: looked ${isoText(look.lookedAt)}: ${look.verdict ?? 'nothing said'}`]),
    ...(why === null ? nextLook(look) : [`planner: does not look: ${why}`]),
    ...(fields.length === 0 ? [] : [`planner: sees ${fields.join(', ')} in the last answer`]),
  ]
  return { title: rules.lines.length > 0 ? 'Rules and planner' : 'Planner', lines: [...rules.lines, ...lines] }
}

function nextLook(look: LookRow | null): string[] {
  if (look === null) return ['planner: looks after the next end of a run']
  const skipped = look.verdict?.startsWith('skipped') === true ? ` (last time ${look.verdict})` : ''
  return [`planner: looks again ${isoText(look.lookAt)} or soon after${skipped}`]
}

function whyNot(
  { planner, autonomy }: Pick<Standing, 'planner' | 'autonomy'>,
  held: { readonly reason: string; readonly until: number | null } | undefined,
): string | null {
  if (autonomy === 'off') return 'off'
  if (planner === null) return 'no model is set'
  if (planner.paused !== null) return `planners are paused by ${planner.paused.by}: belfry planner resume`
  if (held === undefined) return null
  return `${held.reason}${held.until === null ? '' : ` until ${isoText(held.until)}`}`
}
