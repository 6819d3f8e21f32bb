import type { CliPart } from './doors/cli/part.ts'
import type { HttpPart } from './doors/http/part.ts'
import type { EnginePart } from './engine/part.ts'
import type { OperationPart } from './operations/part.ts'
import type { StorePart } from './store/part.ts'

/**
 * What a folder below `parts/` may bring. Everything but its name is optional, and nothing outside the folder knows it: each layer says
 * what it takes from parts, and `parts.ts` lists them.
 */
export interface Part extends StorePart, EnginePart, OperationPart, CliPart, HttpPart {
  readonly name: string
}
