import type { Fault } from '../fault.ts'
import { oneAccount } from './account.ts'
import { blockedLoop } from './blocked-loop.ts'
import { oneBudget } from './budget.ts'
import { calm } from './calm.ts'
import { connections, listener } from './connections.ts'
import { crash } from './crash.ts'
import { freeze } from './freeze.ts'
import { fullDisk } from './full-disk.ts'
import { kill, killElsewhere } from './kill.ts'
import { pause } from './pause.ts'
import { phases } from './phases.ts'
import { stops } from './stops.ts'
import { storm } from './storm.ts'
import { manyTasks } from './tasks.ts'
import { terminate } from './terminate.ts'

export const faults: readonly Fault[] = [
  calm,
  kill,
  killElsewhere,
  crash,
  connections,
  listener,
  freeze,
  pause,
  fullDisk,
  blockedLoop,
  terminate,
  oneAccount({ workers: 16, perKill: 2_500 }),
  oneBudget({ workers: 16, perKill: 2_500 }),
  manyTasks,
  stops,
  phases,
  storm,
]
