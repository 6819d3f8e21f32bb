import { checkText, jsonText, nameLengthMax } from '../check.ts'
import type { AuditEntry } from '../port.ts'
import { both, freshIds, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

const insertAudit = both(
  'audit insert',
  `insert into belfry.audit (id, ns, at, actor, door, verb, subject, detail) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)

export function* writeAudit({ ns }: StoreContext, entry: AuditEntry, now: number): Step<void> {
  const { actor, verb, subject, detail } = entry
  const [id] = (yield* freshIds(1)) as [number]
  const name = checkText(actor.name, 'actor.name', nameLengthMax)
  const door = checkText(actor.door, 'actor.door', nameLengthMax)
  const text = detail === undefined ? null : jsonText(detail, 'detail')
  yield* one(insertAudit, id, ns, now, name, door, verb, subject, text)
}
