import type { BreachKind } from './check.ts'
import { counted } from './check.ts'
import type { Fault } from './fault.ts'
import type { DatabaseKind } from './place.ts'
import { type Spread, spreadOf } from './recovery.ts'
import type { RoundResult } from './round.ts'

/** What recovery may take at the most, where the fault is one that workers recover from. */
const recoveryMsMax: Readonly<Record<DatabaseKind, number>> = { sqlite: 1_000, postgres: 3_000 }

export interface FaultResult {
  readonly fault: Fault
  readonly database: DatabaseKind
  /** Why it could not be injected here; it then counts as not measured. */
  readonly skipped?: string
  readonly seconds?: number
  readonly injected?: number
  readonly runs?: number
  readonly effects?: number
  readonly acks?: number
  readonly refusals?: number
  readonly breaches?: Readonly<Partial<Record<BreachKind, number>>>
  readonly latenessMs?: Spread | null
  readonly recoveryMs?: Spread | null
  /** From the kill itself, the rest of the lease included. */
  readonly wholeRecoveryMs?: Spread | null
  /** Of the times in which a process that was stopped inside a write kept everybody out, which recovery leaves out. */
  readonly closedMs?: Spread | null
  readonly verdict?: 'kept' | 'breach'
}

interface Played {
  readonly fault: Fault
  readonly database: DatabaseKind
  readonly rounds: readonly RoundResult[]
  readonly seconds: number
}

type Countable = 'injected' | 'runs' | 'effects' | 'acks' | 'refusals'

export function sum(rounds: readonly RoundResult[], field: Countable): number {
  return rounds.reduce((total, round) => total + round[field], 0)
}

/** Adds the rounds up, and judges them: nothing may be broken, and recovery must be as quick as it is promised to be. */
export function judged({ fault, database, rounds, seconds }: Played): FaultResult {
  const all = rounds.flatMap(({ breaches }) => breaches)
  const recoveryMs = spreadOf(rounds.flatMap(({ recoveries }) => recoveries.map(({ ms }) => ms)))
  const isSlow = recoveryMs !== null && recoveryMs.p99 > recoveryMsMax[database]
  return {
    fault,
    database,
    seconds: Math.round(seconds),
    injected: sum(rounds, 'injected'),
    runs: sum(rounds, 'runs'),
    effects: sum(rounds, 'effects'),
    acks: sum(rounds, 'acks'),
    refusals: sum(rounds, 'refusals'),
    breaches: Object.fromEntries(counted(all.map(({ kind }) => kind))),
    latenessMs: spreadOf(rounds.flatMap(({ latenessMs }) => latenessMs)),
    recoveryMs,
    wholeRecoveryMs: spreadOf(rounds.flatMap(({ recoveries }) => recoveries.map(({ wholeMs }) => wholeMs))),
    closedMs: spreadOf(rounds.flatMap(({ closedMs }) => closedMs)),
    verdict: all.length > 0 || isSlow ? 'breach' : 'kept',
  }
}

const columns: readonly (readonly [string, (result: FaultResult) => string])[] = [
  ['fault', ({ fault }) => `${fault.id} ${fault.title}`],
  ['database', ({ database }) => database],
  ['injected', ({ injected }) => String(injected ?? '')],
  ['runs', ({ runs }) => String(runs ?? '')],
  ['missed', ({ breaches }) => count(breaches, 'missed')],
  ['doubled', ({ breaches }) => count(breaches, 'doubled', 'double-record', 'repeated')],
  ['late p99', ({ latenessMs }) => (latenessMs ? `${latenessMs.p99} ms` : '')],
  ['lost', ({ breaches }) => count(breaches, 'lost', 'unrecorded')],
  ['refused', ({ refusals }) => String(refusals ?? '')],
  ['stale', ({ breaches }) => count(breaches, 'stale', 'stolen')],
  ['ceiling', ({ breaches }) => count(breaches, 'ceiling')],
  ['other', ({ breaches }) => count(breaches, 'early', 'late', 'left-leased', 'trouble')],
  ['recovery p50/p99/max', ({ recoveryMs }) => shownSpread(recoveryMs)],
  ['closed', ({ closedMs }) => (closedMs ? `${closedMs.count}, max ${closedMs.max} ms` : '')],
  ['verdict', ({ verdict, skipped }) => (skipped === undefined ? (verdict ?? '') : `not measured: ${skipped}`)],
]

function count(breaches: FaultResult['breaches'], ...kinds: BreachKind[]): string {
  if (breaches === undefined) return ''
  return String(kinds.reduce((total, kind) => total + (breaches[kind] ?? 0), 0))
}

function shownSpread(spread: Spread | null | undefined): string {
  return spread ? `${spread.p50}/${spread.p99}/${spread.max} ms` : ''
}

/** One fault as soon as it is over. */
export function shownLine(result: FaultResult): string {
  const words = columns.map(([name, shown]) => (shown(result) === '' ? '' : `${name} ${shown(result)}`))
  return `${words.filter((word) => word !== '').join(' · ')} (${result.seconds ?? 0} s)`
}

export function shownTable(results: readonly FaultResult[]): string {
  const rows = [columns.map(([name]) => name), ...results.map((result) => columns.map(([, shown]) => shown(result)))]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)))
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
