import { type JsonProblem, jsonProblem } from '../../core/json/json.ts'
import { keepableText } from '../check.ts'
import { dialects, runEach, type Step } from '../statement.ts'

export const resultBytesMax = 100 * 1024

const insertResults = dialects('result insert', {
  sqlite: `insert into belfry.result (run_id, ns, fence, body, truncated) values ($1, $2, $3, $4, $5)
    on conflict (run_id) do update set fence = excluded.fence, body = excluded.body, truncated = excluded.truncated`,
  postgres: `insert into belfry.result (run_id, ns, fence, body, truncated)
    select * from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::smallint[])
    on conflict (run_id) do update set fence = excluded.fence, body = excluded.body, truncated = excluded.truncated`,
})

export interface NewResult {
  readonly runId: number
  readonly ns: number
  readonly fence: number
  readonly result: unknown
  readonly bytesMax?: number | undefined
}

/**
 * Stores the newest result of each run, with dates as text. A result that is too long is cut at a character and marked. A value
 * that JSON cannot express is not stored, and the mark says why: the work is done, and its end must not be refused for its
 * result.
 */
export function* writeResults(results: readonly NewResult[]): Step<void> {
  yield* runEach(
    insertResults,
    results.map(({ runId, ns, fence, result, bytesMax = resultBytesMax }) => {
      const unkept = jsonProblem(result, { converts: true })
      if (unkept !== null) return [runId, ns, fence, JSON.stringify(`[not kept: ${whyOf(unkept)}]`), 1]
      const text = JSON.stringify(result)
      if (Buffer.byteLength(text) <= bytesMax) return [runId, ns, fence, text, 0]
      return [runId, ns, fence, JSON.stringify(cut(text, bytesMax)), 1]
    }),
  )
}

function whyOf({ path, problem }: JsonProblem): string {
  return keepableText(`result${path} ${problem}`)
}

/** The longest prefix of a text that fits, without half a character at its end. */
export function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(keepableText(text))
  let end = Math.min(bytesMax, bytes.length)
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}
