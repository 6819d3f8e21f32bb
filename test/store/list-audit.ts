import { canBeName } from '../../src/store/check.ts'
import { columnsOf } from '../../src/store/columns.ts'
import type { StoreContext } from '../../src/store/context.ts'
import { parsed } from '../../src/store/reads/run.ts'
import { all, both, type Step } from '../../src/store/statement.ts'
import type { AuditView } from '../../src/store/view.ts'

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
    verb: row.verb as string,
    subject: row.subject as string,
    detail: parsed(row.detail),
  }))
}
