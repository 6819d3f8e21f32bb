import type { Mutant } from '../mutant.ts'
import { accounts } from './accounts.ts'
import { agents } from './agents.ts'
import { budgets } from './budgets.ts'
import { calendar } from './calendar.ts'
import { claims } from './claims.ts'
import { corpora } from './corpora.ts'
import { databases } from './databases.ts'
import { doors } from './doors.ts'
import { engine } from './engine.ts'
import { fences } from './fences.ts'
import { files } from './files.ts'
import { guards } from './guards.ts'
import { hintBounds } from './hint-bounds.ts'
import { holds } from './holds.ts'
import { http } from './http.ts'
import { imports } from './imports.ts'
import { notices } from './notices.ts'
import { openings } from './openings.ts'
import { planners } from './planners.ts'
import { routines } from './routines.ts'
import { schedules } from './schedules.ts'
import { steering } from './steering.ts'
import { targets } from './targets.ts'
import { taskMutants } from './tasks.ts'
import { trust } from './trust.ts'
import { work } from './work.ts'

/** Those that touch the store and the engine come first: what they break is what everything else relies on. */
export const mutants: readonly Mutant[] = [
  ...claims,
  ...holds,
  ...guards,
  ...openings,
  ...accounts,
  ...budgets,
  ...fences,
  ...work,
  ...schedules,
  ...steering,
  ...hintBounds,
  ...planners,
  ...engine,
  ...databases,
  ...calendar,
  ...targets,
  ...agents,
  ...taskMutants,
  ...doors,
  ...http,
  ...routines,
  ...notices,
  ...corpora,
  ...imports,
  ...files,
  ...trust,
]
