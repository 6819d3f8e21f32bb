import type { Hints, RankedHint } from '../../src/core/schedule/governor.ts'
import { everyHint, lastInterval } from '../../src/core/schedule/hints.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'
import type { Deed } from './deed.ts'
import { nominalOf, spreadMsMax } from './nominal.ts'
import type { Occurrences } from './occurrences.ts'
import { isLive, type RunRecord } from './run-record.ts'
import type { Runs } from './runs.ts'
import { demandSteering, type Steps, stepsFrom } from './steering.ts'

export interface ScheduleRecord {
  row: Rows['schedule']
  spec: ScheduleSpec
  /** When an occurrence of it last ended, by the store's clock. */
  endedAt: number | null
  /** What was planned and had come when that happened: it is fired all the same, or it would never have an end. */
  hadComeAt: number | null
  /** Something besides its own timing had a say since then. */
  isSteered: boolean
  /** Its overlap rule was always the same, and nobody asked for a run besides. */
  isSerial: boolean
  readonly steps: Steps
}

/** The chain of each schedule: it never breaks, never goes back, and what is deleted or paused starts nothing. */
export class Schedules {
  readonly #runs: Runs
  readonly #occurrences: Occurrences
  readonly records = new Map<number, ScheduleRecord>()
  isClockSteady = true
  #now = Number.NEGATIVE_INFINITY
  /** The latest instant that the store's clock has shown. */
  #latestNow = Number.NEGATIVE_INFINITY

  constructor(runs: Runs, occurrences: Occurrences) {
    this.#runs = runs
    this.#occurrences = occurrences
  }

  apply(deed: Deed, touchedRuns: ReadonlySet<RunRecord>): void {
    const touched = new Set<number>()
    this.#now = deed.now
    this.#latestNow = Math.max(this.#latestNow, deed.now)
    // A run that a deed makes is judged by the schedule as the deed found it.
    for (const change of deed.changes) {
      if (change.table === 'run') this.#made(change.after, deed)
      if (change.table === 'ledger' && change.after !== null) this.#ends(change.after, deed)
    }
    for (const change of merged(deed.changes)) this.#changed(change, deed, touched)
    for (const change of deed.changes) {
      if (change.table === 'lease' && change.before === null) this.#started(change.after as Rows['lease'], deed)
      if (change.table === 'ledger' && change.after !== null) this.#ended(change, deed)
    }
    for (const { definition } of touchedRuns) {
      if (definition.schedule_id !== null) touched.add(definition.schedule_id)
    }
    for (const id of touched) this.judge(id)
  }

  #changed({ before, after }: ScheduleChange, deed: Deed, touched: Set<number>): void {
    if (after === null) return
    const { id } = after
    touched.add(id)
    const known = this.records.get(id)
    if (known === undefined) {
      const spec = JSON.parse(after.spec) as ScheduleSpec
      this.records.set(id, {
        row: after,
        spec,
        endedAt: deed.now,
        hadComeAt: null,
        isSteered: false,
        isSerial: isSerial(spec),
        steps: stepsFrom(deed.now),
      })
      this.#occurrences.timed(spec, after, { now: deed.now, isNew: true })
      return
    }
    const told = () => ({ before, after, verb: deed.verb })
    demand(before?.deleted_at == null, 'what is deleted stays as it was', told)
    demand((after.last_planned_at ?? 0) >= (before?.last_planned_at ?? 0), 'I11 the chain never goes back', told)
    demand(after.runs_count >= (before?.runs_count ?? 0), 'runs are never uncounted', told)
    known.row = after
    const hints = JSON.parse(after.hints) as Hints
    const hintsBefore = JSON.parse(before?.hints ?? '{}') as Hints
    this.#overridden(known, hintsBefore, hints, deed)
    if (after.spec !== before?.spec) this.#edited(known, after, deed)
    demandSteering({ before, after, spec: known.spec, deed, steps: known.steps })
    this.#demandHintUsed(known, hintsBefore, hints, deed)
    if (hints.oneshot !== undefined) this.#occurrences.putBetween(id)
    if (hints.interval !== undefined || hints.oneshot !== undefined || after.disabled_at !== null)
      known.isSteered = true
    if (after.paused_until !== null) known.isSteered = true
    if (after.failure_count > 0 && known.spec.timing.everyMs !== undefined) this.#occurrences.moveOffGrid(id)
    const isOverAnew = before?.is_done === 0 || after.spec !== before?.spec
    if (after.is_done === 1 && isOverAnew) this.#occurrences.over(id, after.last_planned_at)
    if (after.deleted_at !== null) this.#deleted(known, deed)
  }

  /** A one-shot is used up by its run, or by the end of what was planned for its instant or later; else only by time. */
  #demandHintUsed({ row, spec }: ScheduleRecord, before: Hints, after: Hints, { changes, verb, now }: Deed): void {
    const { oneshot } = before
    // What `max` brings forward comes before the instant that was asked for.
    if (verb !== 'fireDue' || oneshot === undefined || spec.maxMs !== undefined) return
    const ended = changes.flatMap((change) => {
      return change.table === 'ledger' && change.after?.schedule_id === row.id ? [change.after] : []
    })
    const isSame = (hint: RankedHint) =>
      hint.kind === 'oneshot' && hint.expiresAt === oneshot.expiresAt && hint.at === oneshot.at
    const isGone = !everyHint(after).some(isSame)
    const told = () => ({ schedule: row, oneshot, ended, now })
    const isUsed = ended.some(({ to_at: to }) => to >= oneshot.at)
    demand(!isGone || isUsed || oneshot.expiresAt <= now, 'a one-shot hint is used up by what it asked for', told)
    // One that was overdue when this one took its place may still have its run.
    const isOwn = ({ run_id: id, from_at: at }: Rows['ledger']) =>
      id !== null && at >= oneshot.at && this.#runs.get(id).definition.source === 'ai-oneshot'
    demand(isGone || !ended.some(isOwn), 'a one-shot hint makes one run', told)
  }

  /** While an interval hint counts nothing nominal occurs; from its expiry on, that instant included, all of it does again. */
  #overridden({ row, spec }: ScheduleRecord, before: Hints, after: Hints, { now }: Deed): void {
    if (before.interval?.expiresAt === after.interval?.expiresAt) return
    const last = lastInterval(before)
    if (last !== undefined) this.#occurrences.freed(row, spec, Math.min(now, last.expiresAt - 1))
    if (after.interval !== undefined) this.#occurrences.overridden(row.id, now)
  }

  #edited(known: ScheduleRecord, row: Rows['schedule'], { now }: Deed): void {
    const spec = JSON.parse(row.spec) as ScheduleSpec
    const isSame = (name: keyof ScheduleSpec) => JSON.stringify(spec[name]) === JSON.stringify(known.spec[name])
    known.isSteered = true
    known.isSerial &&= isSerial(spec) && isSame('overlap') && isSame('missed')
    const isNew = !isSame('timing') || !isSame('startAt')
    known.spec = spec
    if (isNew) known.steps.anchoredAt = now
    this.#occurrences.timed(spec, row, { now, isNew })
    if ((JSON.parse(row.hints) as Hints).interval !== undefined) this.#occurrences.overridden(row.id, now)
  }

  #deleted({ row }: ScheduleRecord, { now }: Deed): void {
    demand(row.wake_at === null && row.next_run_at === null, 'what is deleted plans nothing', () => ({ row }))
    if (row.is_done === 0 && this.isClockSteady) this.#occurrences.demandCovered(row.id, now)
  }

  /** Whatever was due by an instant has its end. What is spread is due after its nominal instant, and has until then. */
  demandFired({ row, spec }: ScheduleRecord, dueBy: number): void {
    const nominal = nominalOf(spec, row.grid_anchor_at)
    this.#occurrences.demandCovered(row.id, dueBy - (nominal === null ? 0 : spreadMsMax(spec, nominal)))
  }

  #made(definition: Rows['run'] | null, { now, verb }: Deed): void {
    if (definition?.schedule_id == null) return
    const schedule = this.records.get(definition.schedule_id)
    if (schedule === undefined) return
    const { row, spec } = schedule
    const told = () => ({ run: definition, schedule, now, verb })
    if (definition.occurrence_at === null) {
      schedule.isSerial = false
      const run = this.#runs.get(definition.id)
      run.isBroughtBack = row.deleted_at !== null
      return
    }
    demand(row.deleted_at === null, 'deleted schedules fire nothing', told)
    demand(row.disabled_at === null, 'disabled schedules fire nothing', told)
    demand(row.paused_until === null || row.paused_until <= now, 'paused schedules fire nothing', told)
    demand(definition.due_at !== null && definition.due_at <= now, 'an occurrence is never early', told)
    const isNew = definition.occurrence_at > (row.last_planned_at ?? Number.NEGATIVE_INFINITY)
    demand(isNew, 'I11 nothing is planned again', told)
    demand(spec.maxRuns === undefined || row.runs_count < spec.maxRuns, 'a schedule has no more runs than it may', told)
    this.#demandDelay(schedule, definition)
  }

  #ends({ schedule_id: id, ended_at: endedAt }: Rows['ledger'], { now }: Deed): void {
    const schedule = this.records.get(id)
    if (schedule === undefined || endedAt === null) return
    const { next_run_at: nextRunAt } = schedule.row
    schedule.hadComeAt = nextRunAt !== null && nextRunAt <= now ? nextRunAt : null
  }

  /** A fixed delay is counted from the end of the occurrence before. */
  #demandDelay(schedule: ScheduleRecord, { occurrence_at: at, source }: Rows['run']): void {
    const { spec, endedAt, hadComeAt, isSteered, row } = schedule
    const { timing } = spec
    const everyMs = timing.everyMs !== undefined && timing.from !== 'start' ? timing.everyMs : null
    const isDelay = everyMs !== null && spec.startNow !== true && spec.maxMs === undefined
    if (
      !isDelay ||
      isSteered ||
      endedAt === null ||
      at === hadComeAt ||
      source !== 'baseline-interval' ||
      !this.isClockSteady
    )
      return
    const isFirst = row.last_planned_at === null && spec.startAt !== undefined
    const leastAt = isFirst ? (spec.startAt as number) : endedAt + everyMs * 2 ** Math.min(5, row.failure_count)
    const facts = () => ({ schedule, at, leastAt })
    demand((at as number) >= leastAt, 'a fixed delay is counted from the end of the one before', facts)
  }

  #started({ run_id: runId, leased_at: leasedAt }: Rows['lease'], { now, verb }: Deed): void {
    const run = this.#runs.get(runId)
    const schedule = this.records.get(run.definition.schedule_id ?? 0)
    if (schedule === undefined) return
    const { row } = schedule
    const told = () => ({ run, schedule, now, verb })
    demand(row.deleted_at === null || run.isBroughtBack, 'nothing of a deleted schedule starts', told)
    // A run that somebody asked for after a pause goes, though a clock that was set back says that the pause is not over.
    const isFree = run.definition.enqueued_at >= (row.paused_until ?? Number.NEGATIVE_INFINITY)
    const isPaused = row.disabled_at !== null || (!isFree && (row.paused_until as number) > leasedAt)
    demand(row.deleted_at !== null || !isPaused, 'nothing of a paused schedule starts', told)
    if (!schedule.isSerial) return
    const other = [...this.#runs.records.values()].find((one) => {
      return one !== run && one.definition.schedule_id === row.id && one.places[0]?.kind === 'lease'
    })
    demand(other === undefined, 'runs of a schedule that may not overlap do not', () => ({ ...told(), other }))
  }

  #ended({ before, after }: Extract<Change, { table: 'ledger' }>, { now }: Deed): void {
    if (after === null || after.ended_at === null || before?.ended_at === after.ended_at) return
    const schedule = this.records.get(after.schedule_id)
    if (schedule === undefined) return
    schedule.endedAt = now
    schedule.isSteered = false
    schedule.steps.anchoredAt = now
    if (after.run_id !== null) schedule.steps.ranAt = now
  }

  /**
   * The expiry of a hint changes the plan, so somebody wakes for it. One that was over before the clock was set back is not
   * asked about again until something else is to be done.
   */
  #demandExpirySeen(row: Rows['schedule']): void {
    const { interval, oneshot } = JSON.parse(row.hints) as Hints
    const ahead = [interval, oneshot].flatMap((hint) =>
      hint && hint.expiresAt > this.#latestNow ? [hint.expiresAt] : [],
    )
    const isSeen = ahead.length === 0 || (row.wake_at !== null && row.wake_at <= Math.min(...ahead))
    demand(isSeen, 'somebody wakes for the expiry of a hint', () => ({ row, now: this.#now }))
  }

  /** The chain holds: a schedule that can go on has an instant, or waits for a run that is live. */
  judge(id: number): void {
    const schedule = this.records.get(id)
    if (schedule === undefined || schedule.row.deleted_at !== null || schedule.row.disabled_at !== null) return
    const { row } = schedule
    // The end of the stop wakes it.
    if (row.stopped_by !== null) return
    const told = () => ({ schedule, run: this.#runs.records.get(row.waits_for ?? 0) })
    if (row.next_due_at !== null) {
      demand(row.wake_at !== null && row.wake_at <= row.next_due_at, 'somebody wakes for what is planned', told)
    }
    if (row.paused_until === null && row.is_done === 0) this.#demandExpirySeen(row)
    if (row.wake_at !== null) return
    if (row.is_done === 1) {
      demand(isOver(schedule), 'only what is over is done', told)
      return
    }
    const run = this.#runs.records.get(row.waits_for ?? 0)
    demand(run !== undefined && isLive(run), 'the chain cannot break', told)
  }
}

type ScheduleChange = Extract<Change, { table: 'schedule' }>

/** A deed may write a row in several steps; what counts is how it found the row and how it left it. */
function merged(changes: readonly Change[]): ScheduleChange[] {
  const found = new Map<number, ScheduleChange>()
  for (const change of changes) {
    if (change.table !== 'schedule' || change.after === null) continue
    const { id } = change.after
    found.set(id, { ...change, before: (found.get(id) ?? change).before })
  }
  return [...found.values()]
}

function isSerial({ overlap, missed }: ScheduleSpec): boolean {
  return (overlap ?? (missed === 'all' ? 'queue' : 'skip')) !== 'allow'
}

/** Whether a schedule may have come to its end: it had all its runs, its only instant, its last instant, or never had any. */
function isOver({ spec, row }: ScheduleRecord): boolean {
  const { timing, maxRuns, endAt } = spec
  if (maxRuns !== undefined && row.runs_count >= maxRuns) return true
  if (endAt !== undefined) return true
  if (timing.at !== undefined) return timing.at <= (row.last_planned_at ?? Number.NEGATIVE_INFINITY)
  return timing.cron === undefined && timing.everyMs === undefined
}
