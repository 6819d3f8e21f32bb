import { dialects, each, runEach, type Step } from '../../store/statement.ts'
import { all, big, flag, nullable, Table, word } from '../../store/table-codec.ts'
import type { NoticeMemory } from './notice.ts'
import type { NoticeEvent } from './notice-events.ts'

/** What notices are about: a schedule, or a queue where the work has none, or something else by its name: `budget claude-day`. */
export interface NoticeSubject {
  readonly ns: number
  readonly subject: string
  readonly subjectId: number
}

export interface NoticeKey extends NoticeSubject {
  readonly event: NoticeEvent
}

export const noticeTable = new Table('notice', {
  ...all(big, 'ns', 'subjectId', 'quietUntil', 'suppressed'),
  subject: word<string>(),
  event: word<NoticeEvent>(),
  lastAt: nullable(big),
  isOpen: flag,
})

export interface NoticeRow extends NoticeKey, NoticeMemory {}

const conflict = `on conflict (ns, subject, subject_id, event) do update set suppressed = n.suppressed
  returning ${noticeTable.columns()}`
const columns = '(ns, subject, subject_id, event, quiet_until, suppressed, is_open)'
/**
 * Inserts the missing rows, locks all of them and reads them. Every step locks them in one order and last of all, so that a step
 * that has locked one waits for no other lock.
 */
const lock = dialects('notice lock', {
  sqlite: `insert into belfry.notice as n ${columns} values ($1, $2, $3, $4, 0, 0, 0) ${conflict}`,
  postgres: `insert into belfry.notice as n ${columns}
    select i.ns, i.subject, i.subject_id, i.event, 0, 0, 0
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) as i (ns, subject, subject_id, event)
    order by i.ns, i.subject, i.subject_id, i.event ${conflict}`,
})
const save = dialects('notice save', {
  sqlite: `update belfry.notice set (last_at, quiet_until, suppressed, is_open) = ($5, $6, $7, $8)
    where ns = $1 and subject = $2 and subject_id = $3 and event = $4`,
  postgres: `update belfry.notice n
    set (last_at, quiet_until, suppressed, is_open) = (i.last_at, i.quiet_until, i.suppressed, i.is_open)
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
      $8::smallint[]) as i (ns, subject, subject_id, event, last_at, quiet_until, suppressed, is_open)
    where n.ns = any ($1::bigint[]) and n.subject = any ($2::text[]) and n.subject_id = any ($3::bigint[])
      and n.ns = i.ns and n.subject = i.subject and n.subject_id = i.subject_id and n.event = i.event`,
})

/** What is remembered of notices, by subject and event. The rows are locked from here on. */
export class NoticeBook {
  readonly #rows: Map<string, NoticeRow>
  readonly #changed = new Set<string>()

  private constructor(rows: readonly NoticeRow[]) {
    this.#rows = new Map(rows.map((row) => [nameOf(row), row]))
  }

  static *open(keys: readonly NoticeKey[]): Step<NoticeBook> {
    const wanted = new Map(keys.map((key) => [nameOf(key), [key.ns, key.subject, key.subjectId, key.event] as const]))
    return new NoticeBook((yield* each(lock, [...wanted.values()])).map((row) => noticeTable.read(row)))
  }

  get(key: NoticeKey): NoticeMemory {
    return this.#rows.get(nameOf(key)) as NoticeRow
  }

  set(key: NoticeKey, memory: NoticeMemory): void {
    const { ns, subject, subjectId, event } = key
    this.#rows.set(nameOf(key), { ...memory, ns, subject, subjectId, event })
    this.#changed.add(nameOf(key))
  }

  *save(): Step<void> {
    const changed = [...this.#changed].map((name) => this.#rows.get(name) as NoticeRow)
    yield* runEach(
      save,
      changed.map(({ ns, subject, subjectId, event, lastAt, quietUntil, suppressed, isOpen }) => {
        return [ns, subject, subjectId, event, lastAt, quietUntil, suppressed, isOpen ? 1 : 0]
      }),
    )
  }
}

function nameOf({ ns, subject, subjectId, event }: NoticeKey): string {
  return `${ns} ${subject} ${subjectId} ${event}`
}
