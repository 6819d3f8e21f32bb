import type { Part } from './part.ts'
import { admission } from './parts/admission/rooms.ts'
import { agents } from './parts/agents/agent-rooms.ts'
import { backfill } from './parts/backfill/part.ts'
import { config } from './parts/config/part.ts'
import { holds } from './parts/holds/part.ts'
import { hosts } from './parts/hosts/part.ts'
import { imports } from './parts/imports/part.ts'
import { notices } from './parts/notices/part.ts'
import { routines } from './parts/routines/part.ts'

/** The parts of Belfry. Only this file knows them all. Parts that act at the same moment act in this order; notices come last. */
export const parts = [
  holds,
  ...admission,
  ...agents,
  hosts,
  config,
  routines,
  imports,
  backfill,
  notices,
] as const satisfies readonly Part[]
