import type { EngineContext } from './context.ts'

/** Something that one worker of all does for all, again and again, in bounded steps. */
export interface Duty {
  readonly name: string
  /** The least time between two rounds; the worker looks every `beatMs`. */
  readonly everyMs: number
  tick(context: EngineContext): Promise<void>
}

/** What a part brings to a worker. */
export interface EnginePart {
  readonly duties?: readonly Duty[]
}
