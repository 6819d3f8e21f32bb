import { claims } from './claims.ts'
import { keys } from './keys.ts'
import { type Case, Stage, type Subject } from './place.ts'
import { plans } from './plans.ts'

/** Everything a store must do, whatever database is behind it. Each case gets a fresh place. */
export const cases: readonly Case[] = [...claims, ...keys, ...plans]

/**
 * The suite for one kind of store, as plain sentences and functions, so that any test runner can run it:
 * `for (const { name, skip, run } of conformance(subject)) it(name, run)`.
 */
export function conformance(subject: Subject, childModule = new URL('./child.js', import.meta.url)) {
  return cases.map(({ name, skip, run }) => ({
    name,
    skip: skip?.(subject),
    async run(): Promise<void> {
      const stage = new Stage(await subject.fresh(), childModule)
      try {
        await run(stage)
      } finally {
        await stage.dispose()
      }
    },
  }))
}
