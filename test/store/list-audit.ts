import type { CallerKind } from '../../src/core/caller.ts'
import { canBeName } from '../../src/store/check.ts'
import { all, both, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { shown } from '../../src/store/table-codec.ts'
import { columnsOf } from '../../src/store/tables.ts'

const findAudit = both(
  'read audit',
  `select ${columnsOf('audit')} from belfry.audit where ns = $1 and subject = $2 order by at desc, id desc limit $3`,
)

const auditMax = 500

interface AuditLine {
  readonly at: number
  readonly actor: string
  readonly door: string
  readonly caller: CallerKind
  readonly verb: string
  readonly subject: string
  readonly detail: unknown
}

/** What was done to a subject, newest first. */
export function* listAudit(context: StoreContext, subject: string): Step<AuditLine[]> {
  if (!canBeName(subject)) return []
  const rows = yield* all(findAudit, context.ns, subject, auditMax)
  return rows.map((row) => ({
    at: row.at as number,
    actor: row.actor as string,
    door: row.door as string,
    caller: (row.caller ?? 'person') as CallerKind,
    verb: row.verb as string,
    subject: row.subject as string,
    detail: shown(row.detail),
  }))
}
