import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

export interface Vector<In, Out> {
  readonly in: In
  readonly out: Out
}

/** Reads one file of vectors. They are data made elsewhere, so their types are claimed by the test that reads them. */
export function vectors<In, Out>(name: string): readonly Vector<In, Out>[] {
  const read: Vector<In, Out>[] = JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8'))
  expect(read.length, `${name}.json holds vectors`).toBeGreaterThan(0)
  return read
}

/** Compares only what the vector shows; numbers may differ by one part in a thousand million. */
export function expectMatch(actual: unknown, shown: unknown, where: string): void {
  const difference = firstDifference(actual, shown, '')
  if (difference !== null) expect.fail(`${where}${difference}`)
}

export function firstDifference(actual: unknown, shown: unknown, path: string): string | null {
  if (typeof shown === 'number' && typeof actual === 'number') {
    const near = Math.abs(actual - shown) <= 1e-9 * Math.max(Math.abs(actual), Math.abs(shown))
    return near ? null : `${path}: ${actual} is not ${shown}`
  }
  if (typeof shown !== 'object' || shown === null) {
    return Object.is(actual, shown) ? null : `${path}: ${String(actual)} is not ${String(shown)}`
  }
  if (typeof actual !== 'object' || actual === null) return `${path}: ${String(actual)} is not ${JSON.stringify(shown)}`
  if (Array.isArray(shown) && (!Array.isArray(actual) || actual.length !== shown.length)) {
    return `${path}: ${JSON.stringify(actual)} is not ${JSON.stringify(shown)}`
  }
  for (const [key, value] of Object.entries(shown)) {
    const difference = firstDifference((actual as Record<string, unknown>)[key], value, `${path}.${key}`)
    if (difference !== null) return difference
  }
  return null
}
