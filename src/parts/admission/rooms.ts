import type { Part } from '../../part.ts'
import { accounts } from './accounts/part.ts'
import { budgets } from './budgets/part.ts'
import { calendars } from './calendars/part.ts'
import { guards } from './guards/part.ts'
import { measures } from './measures/part.ts'
import { overview } from './overview/part.ts'
import { settings } from './settings/part.ts'

/**
 * Admission: may it start now? Each room is a part of its own. Under a lease they are asked in this order: first the guards, which
 * depend on the run alone, then what reserves.
 */
export const admission = [
  overview,
  settings,
  calendars,
  guards,
  measures,
  accounts,
  budgets,
] as const satisfies readonly Part[]
