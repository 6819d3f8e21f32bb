import type { Show } from './show/all.ts'

/** What a part brings to the command line. */
export interface CliPart {
  /** How the answer of each of its commands is shown to people. Loaded only where something is shown. */
  readonly shows?: () => Promise<Readonly<Record<string, Show>>>
  /** Words that people know from other tools, with the noun before them where they stand behind it, and the command that is meant. */
  readonly otherWords?: Readonly<Record<string, string>>
}
