import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { neverHappened } from './coverage.ts'
import type { Broken } from './life.ts'

/** A broken history as people read it: what broke, with the facts, and the last steps before it. */
export function brokenText({ seed, step, invariant, facts, last }: Broken): string {
  return [
    `seed ${seed} broke at step ${step}: ${invariant}`,
    ...last.map((line) => `  ${line}`),
    JSON.stringify(facts, null, 2),
    `replay it: npm run sim -- --seed ${seed}`,
  ].join('\n')
}

/** Keeps a broken history; the tests live through every seed that lies there again. */
export function saveBroken(folder: string, broken: Broken): string {
  mkdirSync(folder, { recursive: true })
  const name = broken.invariant.replace(/[^a-z0-9]+/gi, '-').toLowerCase()
  const path = join(folder, `${name}-${broken.seed}.json`)
  writeFileSync(path, `${JSON.stringify(broken, null, 2)}\n`)
  return path
}

/** How often everything happened that means something to a reader. */
export function countsShown(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].filter(([kind]) => /^(fault|act|seen|event):/.test(kind)).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The same in words, and what never happened. */
export function countsText(counts: ReadonlyMap<string, number>): string {
  const shown = countsShown(counts)
  const width = Math.max(0, ...shown.map(([kind]) => kind.length))
  return [
    ...shown.map(([kind, count]) => `  ${kind.padEnd(width)} ${count}`),
    ...neverHappened(counts).map((kind) => `  ${kind.padEnd(width)} never`),
  ].join('\n')
}
