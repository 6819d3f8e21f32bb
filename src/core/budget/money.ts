import type { Money } from '../run/usage.ts'

/** A millionth is the finest part of a currency's unit that is counted. */
const millionths = 1_000_000
const decimals = 6

export const moneyExpected = 'an amount with its currency, such as 40USD or 0.25EUR'

/** An amount with its currency as people write it, or what is wrong with it. */
export function parseMoney(text: string): Money | { readonly problem: string; readonly expected: string } {
  const [, sign, whole = '', part = '', currency] = /^([-+]?)(\d{1,16})(?:\.(\d+))?(.*)$/s.exec(text.trim()) ?? []
  const wrong = (problem: string, expected = moneyExpected) => ({ problem, expected })
  if (sign === undefined || currency === undefined) return wrong(`is ${JSON.stringify(text)}`)
  const name = currency.trim()
  if (sign === '-') return wrong('is negative', 'an amount above 0, such as 40USD')
  if (name === '') return wrong('names no currency', `${text.trim()}USD, or another currency`)
  if (!/^[A-Z]{3}$/.test(name))
    return wrong(`has the currency ${JSON.stringify(name)}`, 'three capital letters, such as USD')
  if (/[1-9]/.test(part.slice(decimals))) return wrong('is finer than a millionth', 'at most six decimals')
  const amount = Number(whole) * millionths + Number(part.slice(0, decimals).padEnd(decimals, '0'))
  return Number.isSafeInteger(amount) ? { amount, currency: name } : wrong('is too large', 'an amount below 9 billion')
}

/** `40 USD`, `0.25 USD`. */
export function formatMoney({ amount, currency }: Money): string {
  const part = String(Math.abs(amount) % millionths)
    .padStart(decimals, '0')
    .replace(/0+$/, '')
  const whole = Math.trunc(Math.abs(amount) / millionths)
  return `${amount < 0 ? '-' : ''}${whole}${part === '' ? '' : `.${part.padEnd(2, '0')}`} ${currency}`
}

/**
 * Units of a currency, as a provider reports them, in millionths; `null` where that is no amount. A remainder below a millionth is rounded
 * up, so that nothing is free.
 */
export function millionthsOf(units: unknown): number | null {
  const value = typeof units === 'string' && /^\d+(\.\d+)?$/.test(units) ? Number(units) : units
  if (typeof value !== 'number' || !(value >= 0)) return null
  // The product of 0.1 and a million has a rounding error that no provider meant.
  const amount = Math.ceil(Number((value * millionths).toPrecision(15)))
  return Number.isSafeInteger(amount) ? amount : null
}
