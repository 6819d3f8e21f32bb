import { formatMoney } from '../budget/money.ts'

/** The reported usage of an attempt. An absent field is unknown, which is not 0. */
export interface Usage {
  readonly tokensIn?: number | undefined
  readonly tokensOut?: number | undefined
  /** Input tokens that the provider had cached; not part of `tokensIn`. */
  readonly tokensCached?: number | undefined
  readonly money?: Money | undefined
}

export interface Money {
  /** In millionths of the currency's unit. */
  readonly amount: number
  /** Three capital letters: `USD`. */
  readonly currency: string
}

/** What a run is expected to use; an absent field is unknown. */
export interface Estimate {
  /** Of input and output together. */
  readonly tokens?: number | undefined
  readonly money?: Money | undefined
  readonly runtimeMs?: number | undefined
}

const counts = ['tokensIn', 'tokensOut', 'tokensCached'] as const

/** What is wrong with a report, or null. */
export function usageProblem(usage: Usage, before: Usage = {}): string | null {
  for (const name of counts) {
    if (usage[name] !== undefined && !isCount(usage[name])) return `${name} is not a whole number from 0 on`
  }
  const { money } = usage
  if (money === undefined) return null
  if (!isCount(money.amount)) return 'money.amount is not a whole number of millionths from 0 on'
  if (!/^[A-Z]{3}$/.test(money.currency)) return 'money.currency is not three capital letters, such as USD'
  const known = before.money?.currency
  return known === undefined || known === money.currency ? null : `money is in ${money.currency}, and was in ${known}`
}

/** Two reports of one attempt together. */
export function usageSum(a: Usage, b: Usage): Usage {
  const total: { -readonly [Field in keyof Usage]: Usage[Field] } = {}
  for (const name of counts) {
    if (a[name] !== undefined || b[name] !== undefined) total[name] = (a[name] ?? 0) + (b[name] ?? 0)
  }
  const money = b.money ?? a.money
  if (money !== undefined) total.money = { ...money, amount: (a.money?.amount ?? 0) + (b.money?.amount ?? 0) }
  return total
}

/** The most that an attempt may use, and the name of the rule that sets this cap. */
export interface UsageCap {
  readonly by: string
  readonly tokens?: number | undefined
  readonly money?: Money | undefined
}

/** How a report exceeds one of the caps, or null. Money of another currency is not compared. */
export function overCap({ tokensIn = 0, tokensOut = 0, money }: Usage, caps: readonly UsageCap[]): string | null {
  for (const { by, tokens, money: most } of caps) {
    const used = tokensIn + tokensOut
    if (tokens !== undefined && used > tokens) return `${by}: it has used ${used} tokens, and may use ${tokens}`
    if (most === undefined || money?.currency !== most.currency || money.amount <= most.amount) continue
    return `${by}: it has used ${formatMoney(money)}, and may use ${formatMoney(most)}`
  }
  return null
}

/** By how much a total exceeds an earlier total; 0 where it is smaller. */
export function usageSince(total: Usage, before: Usage): Usage {
  const more = (now: number, then = 0) => Math.max(0, now - then)
  const { money } = total
  return {
    ...Object.fromEntries(
      counts.flatMap((name) => (total[name] === undefined ? [] : [[name, more(total[name], before[name])]])),
    ),
    ...(money !== undefined && { money: { ...money, amount: more(money.amount, before.money?.amount) } }),
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
