import { columns } from '../columns.ts'
import type { Paint } from '../sheet.ts'

/** Names with what is known of them; what is not known is left out. */
export function facts(rows: readonly (readonly [string, string | null])[], paint: Paint): string {
  const known = rows.filter((row): row is [string, string] => row[1] !== null)
  return columns(
    null,
    known.map(([name, value]) => [paint.dim(name), value]),
  )
}
