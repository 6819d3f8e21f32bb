import { readFile } from 'node:fs/promises'
import { isRecord } from '../../../core/json/record.ts'
import type { Usage } from '../../../core/run/usage.ts'
import { ModelFailure, type ModelStep, type PlannerModel } from '../looks/converse.ts'

/** A step of a script: the tools that a model would call. */
export interface ScriptedStep {
  readonly text?: string
  readonly calls?: readonly { readonly tool: string; readonly args?: unknown }[]
  readonly usage?: Usage
  /** The kind of failure with which the model gives no answer. */
  readonly fails?: string
}

/**
 * A substitute for a model: the steps of a script, one after the other, for tests and demonstrations. It is shown as `scripted` everywhere.
 */
export function scriptedModel(steps: readonly ScriptedStep[], name = 'scripted'): PlannerModel {
  let next = 0
  return {
    provider: 'scripted',
    name,
    async step(): Promise<ModelStep> {
      const step = steps[next]
      next += 1
      if (step === undefined) return { text: '', calls: [], usage: {} }
      if (step.fails !== undefined)
        throw new ModelFailure(step.fails, `the script fails: ${step.fails}`, { usage: step.usage ?? {} })
      const calls = (step.calls ?? []).map(({ tool, args }, index) => ({
        id: `call-${next}-${index}`,
        tool,
        args: args ?? {},
      }))
      return { text: step.text ?? '', calls, usage: step.usage ?? {} }
    },
  }
}

/** Reads the steps from a file. */
export async function scriptIn(path: string): Promise<readonly ScriptedStep[]> {
  let read: unknown
  try {
    read = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new ModelFailure('no-script', `${path} cannot be read: ${(error as Error).message}`)
  }
  if (!Array.isArray(read) || !read.every(isRecord)) throw new ModelFailure('no-script', `${path} is no list of steps`)
  return read as readonly ScriptedStep[]
}
