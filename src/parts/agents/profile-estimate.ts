import { parseMoney } from '../../core/budget/money.ts'
import { parseDuration } from '../../core/duration.ts'
import type { Estimate } from '../../core/run/usage.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import type { AgentProfile } from './profile-form.ts'

/** What a profile expects its runs to use, in the units of budgets. */
export function estimateIn(profile: AgentProfile | undefined): Estimate | undefined {
  if (profile?.estimate === undefined) return undefined
  const { tokens, money: paid, runtime } = profile.estimate
  const money = paid === undefined ? undefined : parseMoney(paid)
  return onlyGiven({
    tokens,
    money: money === undefined || 'problem' in money ? undefined : money,
    runtimeMs: runtime === undefined ? undefined : parseDuration(runtime),
  })
}
