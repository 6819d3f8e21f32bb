import { z } from 'zod'
import { formatMoney } from '../../../core/budget/money.ts'
import { periodAt } from '../../../core/budget/period.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import { type AnswerOf, count, text } from '../../../operations/schema/output-schema.ts'
import type { Listing } from '../../../operations/show.ts'
import { clockNow } from '../../../store/statement.ts'
import { type CostKey, type CostRow, costBetween, costKeys } from './read-cost.ts'

const dayMs = 86_400_000
const sinceMsDefault = 7 * dayMs
/** What attempts used is not kept for longer. */
const sinceMsMax = 90 * dayMs

const amount = z.strictObject({
  amount: count('Millionths of the currency.'),
  currency: text('The currency.'),
})

const cost = z.strictObject({
  key: text('The schedule, profile (KIND or KIND/NAME), account, day or tag; empty for attempts without one.'),
  runs: count(
    'How many attempts ended that reported what they used, should have (usage), have a no-op rule, or had reserved from a budget.',
  ),
  useful: count('How many of them completed and found something to do.'),
  noopShare: z
    .number()
    .nullable()
    .describe('The share that found nothing to do, of the attempts with a no-op rule; null: none has such a rule.'),
  tokensIn: count('Tokens of input.'),
  tokensOut: count('Tokens of output.'),
  tokensCached: count('Tokens of input that the provider had cached.'),
  tokensUnknown: count('How many attempts reported no tokens.'),
  money: z.array(amount).describe('Money, by currency.'),
  moneyUnknown: count('How many attempts reported no money.'),
  moneyPerUseful: z.array(amount).describe('Money for each useful run, by currency; empty where it is unknown.'),
  runtimeMs: count('How long they took together.'),
})

export type Cost = AnswerOf<typeof cost>

const shown: Listing<readonly Cost[], Cost> = {
  none: 'No run has reported what it used, reserved from a budget, or has a no-op rule.',
  columns: [
    ['BY', ({ key }) => (key === '' ? '(none)' : key)],
    ['ATTEMPTS', 'runs', 'count'],
    [
      'TOKENS',
      ({ tokensIn, tokensOut, tokensUnknown, runs }) => known(String(tokensIn + tokensOut), tokensUnknown, runs),
    ],
    ['MONEY', ({ money, moneyUnknown, runs }) => known(money.map(formatMoney).join(', ') || '0', moneyUnknown, runs)],
    ['NO-OPS', ({ noopShare }) => (noopShare === null ? 'unknown' : `${Math.round(noopShare * 100)} %`)],
    ['PER USEFUL RUN', ({ moneyPerUseful }) => moneyPerUseful.map(formatMoney).join(', ') || 'unknown'],
    ['RUNTIME', 'runtimeMs', 'duration'],
  ],
}

/** A sum, and how many attempts did not report theirs. */
function known(sum: string, unknown: number, runs: number): string {
  if (unknown === runs) return 'unknown'
  return unknown === 0 ? sum : `${sum} + ${unknown} unknown`
}

export const costOperation = operation({
  noun: 'budget',
  verb: 'cost',
  command: ['cost'],
  effect: 'read',
  scope: 'read',
  doors: everyDoor,
  says: 'Show what runs have used: tokens, money, the share that found nothing to do, and money for each useful run.',
  request: 'a look at the cost',
  input: z.strictObject({
    by: z.enum(costKeys).describe('What to group by. Default: schedule.').optional(),
    ...durationFields('since', 'How far to look back, at most 90d. Default: 7d.'),
  }),
  takes: [],
  output: z.array(cost),
  show: shown,
  errors: ['invalid'],
  examples: [{}, { by: 'day', since: '30d' }],
  async judge({ store, zone }, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const sinceMs = durationOf(value, 'since', problems) ?? sinceMsDefault
    if (sinceMs < 1 || sinceMs > sinceMsMax) {
      problems.push({ field: 'since', problem: `is ${sinceMs} ms`, expected: 'a duration of 1ms to 90d' })
    }
    refuse('The look at the cost', problems)
    const { by = 'schedule' } = value
    const now = await store.look(clockNow)
    const sums = new Map<string, Sum>()
    for (let from = now - sinceMs; from <= now; ) {
      const until = Math.min(periodAt({ per: 'day', zone, at: from })?.until ?? now, now + 1)
      const day = dayOf(from, until, zone)
      for (const row of await store.look(costBetween, { by, from, until })) {
        for (const key of keysOf(by, row, day)) sums.set(key, added(sums.get(key), key, row))
      }
      from = until
    }
    return [...sums.values()].map(withShares).sort(by === 'day' ? byKey : byMoney)
  },
})

/** The date of a stretch that lies in one day of a zone. */
function dayOf(from: number, until: number, zone: string): string {
  const at = Math.floor((from + until) / 2)
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(at)
}

function keysOf(by: CostKey, { key }: CostRow, day: string): readonly string[] {
  if (by === 'day') return [day]
  if (by !== 'tag') return [(key ?? '').replace(by === 'profile' ? /^agent\// : /^$/, '')]
  const tags = JSON.parse(key ?? '[]') as readonly string[]
  return tags.length === 0 ? [''] : tags
}

/** A sum that has no shares yet. */
interface Sum extends Omit<Cost, 'noopShare' | 'moneyPerUseful'> {
  readonly noops: number
  readonly judged: number
}

function added(sum: Sum | undefined, key: string, row: CostRow): Sum {
  // Sums of PostgreSQL come as text.
  const { currency } = row
  const of = (field: Exclude<keyof CostRow, 'key' | 'currency'>) => Number(row[field])
  const before = sum ?? { ...nothing, key }
  const others = before.money.filter((one) => one.currency !== currency)
  const same = before.money.find((one) => one.currency === currency)?.amount ?? 0
  return {
    key,
    runs: before.runs + of('attempts'),
    useful: before.useful + of('useful'),
    noops: before.noops + of('noops'),
    judged: before.judged + of('judged'),
    tokensIn: before.tokensIn + of('tokens_in'),
    tokensOut: before.tokensOut + of('tokens_out'),
    tokensCached: before.tokensCached + of('tokens_cached'),
    tokensUnknown: before.tokensUnknown + of('attempts') - of('counted'),
    money: currency === null ? before.money : [...others, { currency, amount: same + of('money') }],
    moneyUnknown: before.moneyUnknown + (currency === null ? of('attempts') : 0),
    runtimeMs: before.runtimeMs + of('runtime_ms'),
  }
}

const nothing: Omit<Sum, 'key'> = {
  runs: 0,
  useful: 0,
  noops: 0,
  judged: 0,
  tokensIn: 0,
  tokensOut: 0,
  tokensCached: 0,
  tokensUnknown: 0,
  money: [],
  moneyUnknown: 0,
  runtimeMs: 0,
}

/** Where some attempts did not report their cost, the mean is not known. */
function withShares({ noops, judged, ...sum }: Sum): Cost {
  const { money, moneyUnknown, useful } = sum
  const each = ({ amount: paid, currency }: Cost['money'][number]) => ({ amount: Math.round(paid / useful), currency })
  return {
    ...sum,
    noopShare: judged === 0 ? null : noops / judged,
    money: money.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
    moneyPerUseful: moneyUnknown === 0 && useful > 0 ? money.map(each) : [],
  }
}

function byKey(a: Cost, b: Cost): number {
  return a.key < b.key ? -1 : 1
}

/** The dearest first; without money, those with the most tokens. */
function byMoney(a: Cost, b: Cost): number {
  const paid = ({ money }: Cost) => Math.max(0, ...money.map(({ amount: each }) => each))
  const tokens = ({ tokensIn, tokensOut }: Cost) => tokensIn + tokensOut
  return paid(b) - paid(a) || tokens(b) - tokens(a) || byKey(a, b)
}
