import type { CliPart } from './doors/cli/part.ts'
import type { HttpPart } from './doors/http/part.ts'
import type { EnginePart } from './engine/part.ts'
import type { LibraryPart } from './library/part.ts'
import type { OperationPart } from './operations/part.ts'
import type { StorePart } from './store/part.ts'
import type { TargetPart } from './targets/kind.ts'

/** What a folder in `parts/` may add. Everything but its name is optional, and nothing outside the folder knows it: each layer declares what it takes from parts, and `parts.ts` lists them. */
export interface Part extends StorePart, TargetPart, EnginePart, OperationPart, LibraryPart, CliPart, HttpPart {}

/** The intersection of several types. */
export type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
