import { canBeName } from '../../src/store/check.ts'
import { all, both, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { shown } from '../../src/store/table-codec.ts'
import { columnsOf } from '../../src/store/tables.ts'
import type { AuditView } from '../../src/store/views.ts'

const findAudit = both(
  'read audit',
  `select ${columnsOf('audit')} from belfry.audit where ns = $1 and subject = $2 order by at desc, id desc limit $3`,
)

const auditMax = 500

/** What was done to a subject, newest first. */
export function* listAudit(context: StoreContext, subject: string): Step<AuditView[]> {
  if (!canBeName(subject)) return []
  const rows = yield* all(findAudit, context.ns, subject, auditMax)
  return rows.map((row) => ({
    at: row.at as number,
    actor: row.actor as string,
    door: row.door as string,
    caller: (row.caller ?? 'person') as AuditView['caller'],
    verb: row.verb as string,
    subject: row.subject as string,
    detail: shown(row.detail),
  }))
}
