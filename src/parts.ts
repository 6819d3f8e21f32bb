import { unlessLeftOut } from './features.ts'
import type { Part } from './part.ts'
import { admission } from './parts/admission/rooms.ts'
import { groups } from './parts/groups/part.ts'
import { holds } from './parts/holds/part.ts'
import { notices } from './parts/notices/part.ts'

/** The parts that a process can leave out, loaded in parallel. */
const optional = await Promise.all([
  unlessLeftOut('agents', async () => (await import('./parts/agents/agent-rooms.ts')).agents),
  unlessLeftOut('hosts', async () => (await import('./parts/hosts/part.ts')).hosts),
  unlessLeftOut('config', async () => (await import('./parts/config/part.ts')).config),
  unlessLeftOut('routines', async () => (await import('./parts/routines/part.ts')).routines),
  unlessLeftOut('imports', async () => (await import('./parts/imports/part.ts')).imports),
  unlessLeftOut('planner', async () => (await import('./parts/planner/part.ts')).planner),
  unlessLeftOut('backfill', async () => (await import('./parts/backfill/part.ts')).backfill),
  unlessLeftOut('corpus', async () => (await import('./parts/corpus/part.ts')).corpus),
])

/** The parts of Belfry. Only this file knows them all. Parts that act at the same moment act in this order; notices come last. */
export const parts = [holds, groups, ...admission, ...optional.flat(), notices] as const satisfies readonly Part[]
