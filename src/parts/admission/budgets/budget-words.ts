import type { Resource } from '../../../core/budget/budget.ts'
import { formatMoney } from '../../../core/budget/money.ts'
import type { Period } from '../../../core/budget/period.ts'
import { formatDuration } from '../../../core/duration.ts'

export const periodWords: Readonly<Record<Period, string>> = {
  run: 'a run',
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
}

/** `200 runs`, `40 USD`, `2h`. */
export function amountWords(resource: Resource, amount: number, currency = ''): string {
  if (resource === 'money') return formatMoney({ amount, currency })
  if (resource === 'runtimeMs') return `${formatDuration(amount)} of runtime`
  return `${amount} ${amount === 1 ? resource.slice(0, -1) : resource}`
}
