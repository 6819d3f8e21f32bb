import { readFileSync } from 'node:fs'

/** What the witness file holds: what workers did and were told, written by them outside the store. */
export interface Witnessed {
  /** Attempts that began, which is their effect. */
  readonly starts: readonly Effect[]
  /** Attempts whose handler came to its end. */
  readonly ends: readonly Effect[]
  /** Attempts whose worker learned that it no longer holds them. */
  readonly refusals: readonly Effect[]
  /** Enqueues that the store answered for. */
  readonly acks: readonly Ack[]
  /** What workers told as a defect of the engine. */
  readonly defects: readonly string[]
}

export interface Effect {
  readonly runId: string
  readonly fence: number
  readonly pid: number
  readonly at: number
}

export interface Ack {
  readonly key: string
  readonly runId: string
  readonly at: number
}

type Line = readonly [kind: string, at: number, pid: number, seq: number, ...facts: unknown[]]

export function readWitness(path: string): Witnessed {
  const text = readFileSync(path, 'utf8')
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
  const of = (kind: string) => lines.filter((line) => line[0] === kind)
  return {
    starts: of('start').map(effectOf),
    ends: of('end').map(effectOf),
    refusals: of('refused').map(effectOf),
    acks: of('ack').map(([, at, , , key, runId]) => ({ at, key: String(key), runId: String(runId) })),
    defects: of('defect').map(([, , , , loop, error]) => `${loop}: ${error}`),
  }
}

function effectOf([, at, pid, , runId, fence]: Line): Effect {
  return { at, pid, runId: String(runId), fence: Number(fence) }
}
