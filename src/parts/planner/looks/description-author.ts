import type { CallerKind } from '../../../core/caller.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, type Row, type Step } from '../../../store/statement.ts'
import { shown } from '../../../store/table-codec.ts'

const versionsMax = 50
const findVersions = both(
  'look find description author',
  'select spec, door, caller from belfry.schedule_version where schedule_id = $1 order by version desc limit $2',
)

/**
 * The kind of caller that wrote the description of a schedule last. An agent that only changes other fields is not its author. If none of
 * the versions that are read has another description, an agent may have hidden behind them: the answer is then an agent.
 */
export function* descriptionAuthor({ id, spec }: Pick<ScheduleRow, 'id' | 'spec'>): Step<CallerKind> {
  const rows = yield* all<Row>(findVersions, id, versionsMax)
  const changedAt = rows.findIndex((row) => descriptionIn(row) !== spec.description)
  if (changedAt < 0 && rows.length === versionsMax) return 'agent'
  const first = changedAt < 0 ? rows.at(-1) : rows[changedAt - 1]
  return first === undefined ? 'agent' : callerOf(first)
}

function descriptionIn(row: Row): string | undefined {
  return (shown(row.spec) as Partial<ScheduleRow['spec']>).description
}

/** A version that was written before callers were kept has its door only; a caller over MCP was a model. */
function callerOf({ caller, door }: Row): CallerKind {
  if (caller === null) return door === 'mcp' ? 'agent' : 'person'
  return caller as CallerKind
}
