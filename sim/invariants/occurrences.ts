import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'
import type { Deed } from './deed.ts'
import { type Nominal, namedInstant, nominalAfter, nominalCount, nominalOf } from './nominal.ts'
import type { Runs } from './runs.ts'

/** A stretch of a schedule's life under one timing. */
interface Stretch {
  readonly nominal: Nominal | null
  /** Its occurrences lie after this instant. */
  readonly afterAt: number
  /** Except one that the timing itself names: whoever says "at this instant" may say so at that very instant. */
  readonly namedAt: number | null
}

/** All that is known of the occurrences of one schedule; rows that retention has removed are remembered. */
interface Book {
  readonly rows: Rows['ledger'][]
  readonly stretches: Stretch[]
  /** When its timing was last written: earlier instants are none of it. */
  timedAt: number
  /** Something moved its occurrences off their grid, so that gaps mean nothing. */
  isIrregular: boolean
  /** One-shot hints put instants between those of its grid. */
  isHinted: boolean
}

/** Every nominal occurrence has exactly one end: no gap between the rows of the ledger, and nothing twice. */
export class Occurrences {
  readonly #runs: Runs
  readonly #books = new Map<number, Book>()

  constructor(runs: Runs) {
    this.#runs = runs
  }

  rowsOf(scheduleId: number): readonly Rows['ledger'][] {
    return this.#book(scheduleId).rows
  }

  /** A timing begins, at creation or by an edit. What was planned before lies behind it. */
  timed(spec: ScheduleSpec, row: Rows['schedule'], { now, isNew }: { now: number; isNew: boolean }): void {
    if (isNew) this.#book(row.id).timedAt = now
    this.#begin(row, spec, Math.max(now, row.last_planned_at ?? now))
  }

  #begin(row: Rows['schedule'], spec: ScheduleSpec, afterAt: number): void {
    const book = this.#book(row.id)
    const named = namedInstant(spec, row.last_planned_at)
    // An instant that is over when it is written is due at once.
    const namedAt = named === null ? null : Math.max(named, afterAt)
    book.stretches.push({ nominal: nominalOf(spec, row.grid_anchor_at), afterAt, namedAt })
    const isOffGrid = spec.minMs !== undefined || spec.maxMs !== undefined || spec.startNow === true
    if (isOffGrid) book.isIrregular = true
  }

  /** It has come to its end: from here on there is nothing nominal, until somebody edits it. */
  over(scheduleId: number, lastPlannedAt: number | null): void {
    const { stretches } = this.#book(scheduleId)
    const beganAt = stretches.at(-1)?.afterAt ?? Number.NEGATIVE_INFINITY
    stretches.push({ nominal: null, afterAt: Math.max(beganAt, lastPlannedAt ?? beganAt), namedAt: null })
  }

  /** An interval hint takes the place of its timing, from this instant on. */
  overridden(scheduleId: number, afterAt: number): void {
    const book = this.#book(scheduleId)
    book.stretches.push({ nominal: null, afterAt, namedAt: null })
    book.isHinted = true
  }

  /** Its timing counts again after this instant, or from when it was written: a hint may have expired before that. */
  freed(row: Rows['schedule'], spec: ScheduleSpec, afterAt: number): void {
    const { timedAt } = this.#book(row.id)
    if (row.deleted_at === null && row.is_done === 0) this.#begin(row, spec, Math.max(afterAt, timedAt))
  }

  putBetween(scheduleId: number): void {
    this.#book(scheduleId).isHinted = true
  }

  moveOffGrid(scheduleId: number): void {
    this.#book(scheduleId).isIrregular = true
  }

  /** By a clock that shows an instant before its timing began, a schedule may have occurrences that no timing is known for. */
  clockWasSet(now: number): void {
    for (const book of this.#books.values()) {
      if ((book.stretches.at(-1)?.afterAt ?? now) > now) book.isIrregular = true
    }
  }

  apply(deed: Deed): void {
    const made = new Set<number>()
    for (const change of deed.changes) {
      if (change.table === 'run' && change.after?.occurrence_at != null) made.add(change.after.id)
    }
    for (const change of deed.changes) if (change.table === 'ledger') this.#changed(change, deed, made)
    demand(made.size === 0, 'I6 every run of an occurrence stands in the ledger', () => ({ runs: [...made] }))
  }

  #book(scheduleId: number): Book {
    let book = this.#books.get(scheduleId)
    if (book === undefined) {
      book = { rows: [], stretches: [], timedAt: Number.NEGATIVE_INFINITY, isIrregular: false, isHinted: false }
      this.#books.set(scheduleId, book)
    }
    return book
  }

  #changed({ before, after }: Extract<Change, { table: 'ledger' }>, deed: Deed, made: Set<number>): void {
    if (after === null) {
      demand(deed.verb === 'prune', 'only retention removes rows of the ledger', () => ({ before, verb: deed.verb }))
      return
    }
    const book = this.#book(after.schedule_id)
    if (before === null) this.#added(book, after, made)
    else this.#extended(book, before, after)
  }

  #added(book: Book, row: Rows['ledger'], made: Set<number>): void {
    const last = book.rows.at(-1)
    const told = () => ({ last, row, book })
    demand(row.from_at <= row.to_at, 'a row of the ledger goes forwards', told)
    demand(last === undefined || row.from_at > last.to_at, 'no occurrence has two ends', told)
    if (row.run_id !== null) {
      demand(made.delete(row.run_id), 'I6 an occurrence and its run are made together', told)
      demand(row.from_at === row.to_at && row.count === 1, 'a run stands for one occurrence', told)
    }
    this.#demandNoGap(book, last?.to_at ?? null, row.from_at)
    if (row.run_id !== null && !book.isHinted) this.#demandOnGrid(book, row)
    if (row.count > 1) this.#demandCount(book, row)
    book.rows.push(row)
  }

  #demandOnGrid(book: Book, row: Rows['ledger']): void {
    const { nominal } = this.#stretchAt(book, row.from_at)
    const isOnGrid = nominal === null || book.isIrregular || nominalCount(nominal, row.from_at, row.from_at) === 1
    demand(isOnGrid, 'an occurrence lies on the grid of its schedule', () => ({ row, nominal, book }))
  }

  #extended(book: Book, before: Rows['ledger'], after: Rows['ledger']): void {
    const last = book.rows.at(-1)
    const told = () => ({ before, after, last })
    const index = book.rows.findLastIndex((row) => row.from_at === before.from_at)
    demand(index >= 0, 'a row of the ledger is known before it changes', told)
    if (after.to_at !== before.to_at) {
      demand(last?.from_at === before.from_at && after.to_at > before.to_at, 'only the last row is extended', told)
      this.#demandNoGap(book, before.to_at, this.#firstAfter(book, before.to_at, after.to_at))
      this.#demandCount(book, after)
    }
    if (before.run_id !== null) {
      const run = this.#runs.get(before.run_id)
      demand(before.ended_at === null, 'an occurrence ends once', told)
      demand(after.run_id === before.run_id, 'the run of an occurrence stays the same', () => ({ ...told(), run }))
    }
    book.rows[index] = after
  }

  /** The first nominal instant between two instants, under whatever timing it fell; the later of the two where there is none. */
  #firstAfter(book: Book, from: number, to: number): number {
    const firsts = book.stretches.map(({ nominal, afterAt }, index) => {
      const at = nominal === null ? null : nominalAfter(nominal, Math.max(from, afterAt))
      return at !== null && at <= (book.stretches[index + 1]?.afterAt ?? at) ? at : to
    })
    return Math.min(to, ...firsts)
  }

  #stretchAt(book: Book, instant: number): Stretch {
    const found = book.stretches.findLast(({ afterAt, namedAt }) => {
      return afterAt < instant || (afterAt === instant && namedAt === instant)
    })
    return (found ?? book.stretches[0]) as Stretch
  }

  /** Between two neighbours in the ledger there is no nominal instant, under whatever timing it fell. */
  #demandNoGap(book: Book, from: number | null, to: number): void {
    if (book.isIrregular) return
    for (const [index, { nominal, afterAt }] of book.stretches.entries()) {
      if (nominal === null) continue
      const begin = Math.max(from ?? afterAt, afterAt)
      const end = Math.min(to - 1, book.stretches[index + 1]?.afterAt ?? to - 1)
      const at = nominalAfter(nominal, begin)
      const facts = () => ({ missing: at, from, to, nominal, stretches: book.stretches, rows: book.rows.slice(-5) })
      demand(at === null || at > end, 'I6 every nominal occurrence has an end', facts)
    }
  }

  #demandCount(book: Book, row: Rows['ledger']): void {
    if (book.isIrregular || book.isHinted) return
    const counted = book.stretches.reduce((sum, { nominal, afterAt }, index) => {
      const until = book.stretches[index + 1]?.afterAt ?? Number.POSITIVE_INFINITY
      const from = Math.max(row.from_at, afterAt + 1)
      return nominal === null ? sum : sum + nominalCount(nominal, from, Math.min(row.to_at, until))
    }, 0)
    const facts = () => ({ row, counted, stretches: book.stretches })
    // A stretch without a calendar has occurrences as well, of which nothing is known here.
    demand(
      counted === row.count || this.#touchesUnknown(book, row),
      'the ledger counts every nominal occurrence once',
      facts,
    )
  }

  #touchesUnknown(book: Book, { from_at: from, to_at: to }: Rows['ledger']): boolean {
    return book.stretches.some(({ nominal, afterAt }, index) => {
      const until = book.stretches[index + 1]?.afterAt ?? Number.POSITIVE_INFINITY
      return nominal === null && until >= from && afterAt < to
    })
  }

  /** Nothing nominal is left without an end up to an instant: of a schedule that is deleted, or that had its time. */
  demandCovered(scheduleId: number, until: number): void {
    const book = this.#book(scheduleId)
    this.#demandNoGap(book, book.rows.at(-1)?.to_at ?? null, until + 1)
  }
}
