import { millionthsOf } from '../budget/money.ts'
import { atJsonPath, type JsonPath, jsonPathExpected, parseJsonPath } from '../json/json-path.ts'
import type { Usage } from './usage.ts'

/** Where an answer reports the usage of an attempt: a path for each figure. */
export interface UsagePaths {
  readonly tokensIn?: string | undefined
  readonly tokensOut?: string | undefined
  readonly tokensCached?: string | undefined
  /** An amount in units of the currency, as a number or a text. */
  readonly money?: string | undefined
  readonly currency?: string | undefined
}

export const usagePathExpected = `${jsonPathExpected}, with or without $. before it`

/** Providers document paths with a leading `$` for the whole answer, so it is accepted. */
export function usagePath(text: string): JsonPath | null {
  return parseJsonPath(text.replace(/^\$\.?(?=.)/, ''))
}

/** The usage that an answer reports. A figure that is missing or is not an amount is unknown. */
export function usageIn(paths: UsagePaths, answer: unknown): Usage | undefined {
  const at = (text: string | undefined): unknown => {
    const path = text === undefined ? null : usagePath(text)
    const found = path === null ? { until: [] } : atJsonPath(answer, path)
    return 'value' in found ? found.value : undefined
  }
  const count = (text: string | undefined) => {
    const value = at(text)
    return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
  }
  const amount = millionthsOf(at(paths.money))
  const { currency } = paths
  const found = {
    tokensIn: count(paths.tokensIn),
    tokensOut: count(paths.tokensOut),
    tokensCached: count(paths.tokensCached),
    money: amount === null || currency === undefined ? undefined : { amount, currency },
  }
  const known = Object.entries(found).filter(([, value]) => value !== undefined)
  return known.length === 0 ? undefined : Object.fromEntries(known)
}
