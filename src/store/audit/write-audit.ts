import { callerKind } from '../../core/caller.ts'
import { checkText, jsonText, nameLengthMax } from '../check.ts'
import { both, clockNow, freshIds, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { AuditEntry } from './actor.ts'

const insertAudit = both(
  'audit insert',
  `insert into belfry.audit (id, ns, at, actor, door, caller, verb, subject, detail)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
)

export function* writeAudit({ ns }: StoreContext, entry: AuditEntry, now: number): Step<void> {
  const { actor, verb, subject, detail } = entry
  const [id] = (yield* freshIds(1)) as [number]
  const name = checkText(actor.name, 'actor.name', nameLengthMax)
  const door = checkText(actor.door, 'actor.door', nameLengthMax)
  const text = detail === undefined ? null : jsonText(detail, 'detail')
  yield* one(insertAudit, id, ns, now, name, door, callerKind(actor), verb, subject, text)
}

/** Records a call that was refused, a rehearsal too. The call changed nothing, so this line is its only trace. */
export function* auditRefusal(context: StoreContext, entry: AuditEntry): Step<void> {
  yield* writeAudit(context, entry, yield* clockNow())
}
auditRefusal.isReal = true as const
