import { keepableText } from '../check.ts'
import { runIdOf } from '../leases/settle.ts'
import type { LeaseName } from '../port.ts'
import { all, both, dialects, each, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/** This many bytes of each attempt's output are kept: the first half and the last half. */
export const outputBytesMax = 1024 * 1024
const halfBytesMax = outputBytesMax / 2
/** Small writes fill a row up to this size, so that an attempt has few rows and a rotation drops little more than it must. */
const rowBytesMax = 16 * 1024
const characterBytesMax = 4
/** Rows of the last half are numbered from here; dropped output was before the first of them. */
export const tailFrom = 1_000_000

/**
 * The lease is locked until the commit: no reclaim or settle can come between the check of the fence and the write, and two
 * writes of one attempt take turns.
 */
const holdLease = dialects('output hold lease', {
  sqlite: 'select run_id from belfry.lease where run_id = $1 and fence = $2 and ns = $3',
  postgres: 'select run_id from belfry.lease where run_id = $1 and fence = $2 and ns = $3 for no key update',
})
const findRows = both(
  'output find rows',
  'select seq, bytes from belfry.output where run_id = $1 and fence = $2 order by seq',
)
const insertRows = dialects('output insert rows', {
  sqlite: `insert into belfry.output (ns, run_id, fence, seq, bytes, dropped_bytes, body)
    values ($1, $2, $3, $4, $5, 0, $6)`,
  postgres: `insert into belfry.output (ns, run_id, fence, seq, bytes, dropped_bytes, body)
    select ns, run_id, fence, seq, bytes, 0, body
    from unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::int[], $6::text[])
      as i (ns, run_id, fence, seq, bytes, body)`,
})
const lengthenRow = both(
  'output lengthen row',
  `update belfry.output set bytes = bytes + $4, body = body || $5 where run_id = $1 and fence = $2 and seq = $3`,
)
const dropRows = dialects('output drop rows', {
  sqlite: 'delete from belfry.output where run_id = $1 and fence = $2 and seq = $3 returning dropped_bytes',
  postgres: `delete from belfry.output o using unnest($1::bigint[], $2::int[], $3::int[]) as i (run_id, fence, seq)
    where o.run_id = i.run_id and o.fence = i.fence and o.seq = i.seq returning o.dropped_bytes`,
})
const countDropped = both(
  'output count dropped',
  'update belfry.output set dropped_bytes = dropped_bytes + $4 where run_id = $1 and fence = $2 and seq = $3',
)

interface OutputRow {
  readonly seq: number
  readonly bytes: number
}

interface Piece extends OutputRow {
  readonly body: string
}

/** The changes that a write makes to the rows of an attempt. */
interface Growth {
  readonly lengthen: Piece | null
  readonly insert: readonly Piece[]
  readonly drop: readonly OutputRow[]
  readonly droppedBytes: number
  /** The first row of the last half, which records what was dropped before it. */
  readonly tail: OutputRow | undefined
}

/** Appends to the output of an attempt while its lease is held; with an older fence nothing is written. */
export function* appendOutput(context: StoreContext, lease: LeaseName, chunk: string): Step<'written' | 'lease-lost'> {
  const [runId, fence] = [runIdOf(lease), lease.fence]
  if ((yield* one(holdLease, runId, fence, context.ns)) === undefined) return 'lease-lost'
  const rows = yield* all<OutputRow>(findRows, runId, fence)
  const { lengthen, insert, drop, droppedBytes, tail } = grow(rows, Buffer.from(keepableText(chunk)))
  if (lengthen !== null) yield* one(lengthenRow, runId, fence, lengthen.seq, lengthen.bytes, lengthen.body)
  yield* each(
    insertRows,
    insert.map(({ seq, bytes, body }) => [context.ns, runId, fence, seq, bytes, body]),
  )
  const gone = yield* each<{ dropped_bytes: number }>(
    dropRows,
    drop.map(({ seq }) => [runId, fence, seq]),
  )
  const before = gone.reduce((sum, row) => sum + row.dropped_bytes, droppedBytes)
  if (before > 0 && tail !== undefined) yield* one(countDropped, runId, fence, tail.seq, before)
  return 'written'
}

/** Fills the first half, then the last, whose oldest rows are dropped. */
function grow(rows: readonly OutputRow[], text: Buffer): Growth {
  const pieces = cutIntoPieces(rows, text)
  const last = rows.at(-1)
  const longer = last !== undefined && pieces[0]?.seq === last.seq ? pieces[0] : null
  const added = longer === null ? pieces : pieces.slice(1)
  const grown = rows.map((row) => (row.seq === longer?.seq ? { seq: row.seq, bytes: row.bytes + longer.bytes } : row))
  const tail = [...grown, ...added].filter(isInTail)
  const drop = surplusOf(tail)
  const stays = ({ seq }: OutputRow) => seq < tailFrom || seq > (drop.at(-1)?.seq ?? 0)
  return {
    lengthen: longer !== null && stays(longer) ? longer : null,
    insert: added.filter(stays),
    drop,
    droppedBytes: sumOf(drop),
    tail: tail.find(stays),
  }
}

/** The oldest rows, as many as must go for the rest to fit. */
function surplusOf(tail: readonly OutputRow[]): OutputRow[] {
  let surplusBytes = sumOf(tail) - halfBytesMax
  const surplus: OutputRow[] = []
  for (const row of tail) {
    if (surplusBytes <= 0) break
    surplus.push(row)
    surplusBytes -= row.bytes
  }
  return surplus
}

/** The first piece fills up the last row, if it has room; all others are new rows. No character is split. */
function cutIntoPieces(rows: readonly OutputRow[], text: Buffer): Piece[] {
  const pieces: Piece[] = []
  let { seq, bytes } = rows.at(-1) ?? { seq: 0, bytes: 0 }
  let headLeft = halfBytesMax - sumOf(rows)
  for (let from = 0; from < text.length; ) {
    const room = isInTail({ seq }) ? rowBytesMax - bytes : Math.min(rowBytesMax - bytes, headLeft)
    const to = characterEnd(text, from + room)
    if (to > from) pieces.push({ seq, bytes: to - from, body: text.toString('utf8', from, to) })
    headLeft -= to - from
    from = to
    seq = headLeft < characterBytesMax && !isInTail({ seq }) ? tailFrom : seq + 1
    bytes = 0
  }
  return pieces
}

/** The end of the last whole character that ends at or before this byte. */
function characterEnd(text: Buffer, most: number): number {
  let end = Math.min(most, text.length)
  while (end < text.length && ((text[end] ?? 0) & 0xc0) === 0x80) end--
  return end
}

function isInTail({ seq }: Pick<OutputRow, 'seq'>): boolean {
  return seq >= tailFrom
}

function sumOf(rows: readonly OutputRow[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0)
}
