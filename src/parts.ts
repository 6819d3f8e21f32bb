import type { Part } from './part.ts'
import { routines } from './parts/routines/part.ts'

/** The parts of Belfry. This is the only file that knows them all. */
export const parts = [routines] as const satisfies readonly Part[]
