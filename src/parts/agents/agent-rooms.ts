import type { Part } from '../../part.ts'
import { children } from './children/part.ts'
import { comingOver } from './coming-over/part.ts'
import { inbox } from './inbox/part.ts'
import { agents as core } from './part.ts'
import { tasks } from './tasks/part.ts'
import { terminals } from './terminal/part.ts'
import { workspaces } from './workspace/part.ts'

/** The parts about agents. Each folder is a part of its own. */
export const agents = [
  core,
  workspaces,
  terminals,
  tasks,
  inbox,
  comingOver,
  children,
] as const satisfies readonly Part[]
