import { formatMoney } from '../budget/money.ts'
import { DurationError, formatDuration, parseDuration } from '../duration.ts'
import { isClause } from '../json/json-shown.ts'
import { isRecord } from '../json/record.ts'
import type { Usage } from './usage.ts'

/** What a success may have used. */
export interface UsageRule {
  /** Tokens in and out, without cached ones. */
  readonly tokensMax?: number | undefined
  /** How long the attempt may have taken, as a text: `10m`. */
  readonly durationMax?: string | undefined
}

/** What an attempt has used, and how long it took. */
export interface Measured extends Usage {
  readonly durationMs: number
}

/** How a success used more than it may, or null. */
export function usageBreach({ tokensMax, durationMax }: UsageRule, measured: Measured): string | null {
  const tokens = tokensOf(measured)
  if (tokensMax !== undefined && tokens !== undefined && tokens > tokensMax) {
    return `expect.usage: it used ${tokens} tokens, and may use ${tokensMax}`
  }
  if (durationMax === undefined || measured.durationMs <= parseDuration(durationMax)) return null
  return `expect.usage: it took ${formatDuration(measured.durationMs)}, and may take ${durationMax}`
}

export interface UsageRuleProblem {
  readonly field: string
  readonly problem: string
  readonly expected: string
}

/** What is wrong with such a rule. */
export function usageRuleProblems(usage: unknown, field: string): UsageRuleProblem[] {
  const expected = 'an object with tokensMax, durationMax or both, such as {"tokensMax":200000,"durationMax":"10m"}'
  if (!isRecord(usage)) return [{ field, problem: isClause(usage), expected }]
  const { tokensMax, durationMax, ...others } = usage
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return [{ field: `${field}.${unknown}`, problem: 'is not known', expected }]
  if (tokensMax === undefined && durationMax === undefined) return [{ field, problem: 'is empty', expected }]
  const isCount = tokensMax === undefined || (Number.isSafeInteger(tokensMax) && (tokensMax as number) > 0)
  return [
    ...(isCount
      ? []
      : [{ field: `${field}.tokensMax`, problem: isClause(tokensMax), expected: 'a whole number from 1 on' }]),
    ...(durationMax === undefined || isDuration(durationMax)
      ? []
      : [{ field: `${field}.durationMax`, problem: isClause(durationMax), expected: 'a duration such as 90s or 1h' }]),
  ]
}

function isDuration(text: unknown): boolean {
  try {
    return typeof text === 'string' && parseDuration(text) > 0
  } catch (error) {
    if (error instanceof DurationError) return false
    throw error
  }
}

/** The smallest factor of an anomaly: below 1.5 every second run would be one. */
export const anomalyRange = [1.5, 1_000] as const
/** How many earlier runs are compared, and how many are needed before any run counts as unusual. */
export const usualRuns = { most: 20, least: 5 } as const

/**
 * Which usage of an attempt is more than `factor` times the usual, in words. The usual is the median of earlier attempts.
 */
export function anomaliesIn(measured: Measured, before: readonly Measured[], factor: number): string[] {
  const measures = [
    ['tokens', tokensOf, String],
    ['money', ({ money }: Measured) => money?.amount, (amount: number) => moneyIn(amount, measured)],
    ['time', ({ durationMs }: Measured) => durationMs, formatDuration],
  ] as const
  return measures.flatMap(([what, amountIn, shown]) => {
    const now = amountIn(measured)
    const values = before.flatMap((each) => amountIn(each) ?? [])
    if (now === undefined || values.length < usualRuns.least) return []
    const usual = median(values)
    return now > factor * usual ? [`${what}: ${shown(now)}, and usually ${shown(usual)}`] : []
  })
}

function moneyIn(amount: number, { money }: Measured): string {
  return formatMoney({ amount, currency: money?.currency ?? '' })
}

function tokensOf({ tokensIn, tokensOut }: Usage): number | undefined {
  return tokensIn === undefined && tokensOut === undefined ? undefined : (tokensIn ?? 0) + (tokensOut ?? 0)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [above = 0, below = above] = [sorted[middle], sorted[middle - 1]]
  return sorted.length % 2 === 1 ? above : Math.round((above + below) / 2)
}
