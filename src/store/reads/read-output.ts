import { checkFence } from '../leases/fence.ts'
import { runIdOf } from '../leases/settle.ts'
import { tailFrom } from '../runs/append-output.ts'
import { all, both, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { OutputView } from '../views.ts'

const findNewest = both(
  'read newest output',
  'select max(fence) as fence from belfry.output where run_id = $1 and ns = $2',
)
const findRows = both(
  'read output',
  'select seq, dropped_bytes, body from belfry.output where run_id = $1 and fence = $2 and ns = $3 order by seq',
)

interface OutputRow {
  readonly seq: number
  readonly dropped_bytes: number
  readonly body: string
}

/** The output of an attempt, by default of the newest one that wrote any; `null` where there is none. */
export function* readOutput(context: StoreContext, runId: string, fence?: number): Step<OutputView | null> {
  const id = runIdOf({ runId })
  if (fence !== undefined) checkFence(fence, 0)
  const named = fence ?? (yield* one<{ fence: number | null }>(findNewest, id, context.ns))?.fence ?? null
  if (named === null) return null
  const rows = yield* all<OutputRow>(findRows, id, named, context.ns)
  if (rows.length === 0) return null
  const droppedBytes = rows.reduce((sum, row) => sum + row.dropped_bytes, 0)
  const head = textOf(rows.filter(({ seq }) => seq < tailFrom))
  const tail = textOf(rows.filter(({ seq }) => seq >= tailFrom))
  return { fence: named, droppedBytes, text: droppedBytes === 0 ? head + tail : `${head}${mark(droppedBytes)}${tail}` }
}

function textOf(rows: readonly OutputRow[]): string {
  return rows.map(({ body }) => body).join('')
}

function mark(droppedBytes: number): string {
  return `\n[… ${droppedBytes} bytes were dropped here …]\n`
}
