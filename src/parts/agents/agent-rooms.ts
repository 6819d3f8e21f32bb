import type { Part } from '../../part.ts'
import { agents as core } from './part.ts'
import { workspaces } from './workspace/part.ts'

/** Agents, and what surrounds them. Each room is a part of its own. */
export const agents = [core, workspaces] as const satisfies readonly Part[]
