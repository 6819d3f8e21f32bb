import { isInForce } from '../../../core/hold.ts'
import { parseId } from '../../../core/id.ts'
import { isRecord } from '../../../core/json/record.ts'
import { isoText } from '../../../operations/input/instant.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import type { ExplainedPart, ScheduleInQuestion } from '../../../operations/part.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { ScheduleView } from '../../../store/views.ts'
import { explainRules } from '../explain-rules.ts'
import { plannerQueue } from '../looks/analysis-kind.ts'
import { lastVerdict } from '../looks/analysis-row.ts'
import { responsesOf } from '../looks/look-responses.ts'
import { findLook, type LookRow } from '../looks/look-rows.ts'
import { autonomyOf, findPlanner, findPlannerPause, type PlannerRow } from '../planner-row.ts'

interface Standing {
  readonly planner: PlannerRow | null
  readonly paused: PlannerRow['paused']
  readonly autonomy: string
  readonly look: LookRow | null
  readonly last: { readonly at: number; readonly verdict: string } | null
  readonly fields: readonly string[]
}

function* standingOf(context: StoreContext, schedule: ScheduleView): Step<Standing> {
  const planner = yield* findPlanner(context)
  const paused = yield* findPlannerPause(context)
  const autonomy = yield* autonomyOf(context, schedule as never)
  const look = yield* findLook(parseId('schedule', schedule.id) ?? 0)
  const row = yield* findScheduleRow(context, schedule.spec.name)
  const [latest] = row === null ? [] : yield* responsesOf(row, 1, planner?.spec.fields)
  const last = row === null ? null : yield* lastVerdict(row)
  return { planner, paused, autonomy, look, last, fields: fieldsOf(latest?.responseBody) }
}

function fieldsOf(body: string | undefined): string[] {
  try {
    const read: unknown = JSON.parse(body ?? '')
    return isRecord(read) ? Object.keys(read).slice(0, 20) : []
  } catch {
    return []
  }
}

/** What is known of a schedule's rules and of its planner, in one list. */
export async function explainPlanner(context: OperationContext, question: ScheduleInQuestion): Promise<ExplainedPart> {
  const rules = await explainRules(context, question)
  const { store } = context
  const { planner, paused, autonomy, look, last, fields } = await store.look(standingOf, question.schedule)
  const isNamed = autonomy !== 'off' || question.schedule.spec.autonomy !== undefined || last !== null
  if (planner === null && !isNamed) return rules
  const holds = await store.look(holdsOn, { queue: plannerQueue })
  const held = holds.find((hold) => isInForce(hold, question.now))
  const why = whyNot({ planner, paused, autonomy }, held)
  const lines = [
    `planner: autonomy ${autonomy}${planner === null ? '' : `, by ${planner.spec.provider} ${planner.spec.model}`}`,
    ...(last === null ? [] : [`planner: looked ${isoText(last.at)}: ${last.verdict}`]),
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
  { planner, paused, autonomy }: Pick<Standing, 'planner' | 'paused' | 'autonomy'>,
  held: { readonly reason: string; readonly until: number | null } | undefined,
): string | null {
  if (autonomy === 'off') return 'off'
  if (paused !== null) return `planners are paused by ${paused.by}: belfry planner resume`
  if (planner === null) return 'no model is set'
  if (held === undefined) return null
  return `${held.reason}${held.until === null ? '' : ` until ${isoText(held.until)}`}`
}
