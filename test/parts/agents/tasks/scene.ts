import { afterEach, beforeEach, describe } from 'vitest'
import { bind } from '../../../../src/operations/bind.ts'
import { taskOperations } from '../../../../src/parts/agents/tasks/task-verbs.ts'
import type { Actor } from '../../../../src/store/audit/actor.ts'
import { lendSchema, returnSchema } from '../../../lent-schema.ts'
import { Desk, verbsAt } from '../../../operations/desk.ts'
import { postgresUrl } from '../../../postgres.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** A desk on each database, with the verbs of its owner. */
export function atEachDesk(title: string, tell: (desk: () => Desk, kind: 'SQLite' | 'PostgreSQL') => void): void {
  describe.each(['SQLite', 'PostgreSQL'] as const)(`${title} (%s)`, (kind) => {
    let desk: Desk
    let schema: string | undefined
    beforeEach(async () => {
      schema = kind === 'PostgreSQL' ? lendSchema() : undefined
      desk = await Desk.open(schema === undefined ? {} : { url: postgresUrl(), schema })
    })
    afterEach(async () => {
      await desk.store.close()
      if (schema !== undefined) await returnSchema(schema)
    })
    tell(() => desk, kind)
  })
}

/** The verbs for a caller; without a caller, for the owner of the store. */
export function verbsOf({ context }: Desk, actor: Partial<Actor> = {}, more: object = {}) {
  return verbsAt(() => ({ ...context, ...more, actor: { ...context.actor, ...actor } }))
}

/** The verbs of tasks for a caller with limited rights. */
export function limited({ context }: Desk, actor: Partial<Actor>, more: object = {}) {
  return bind(taskOperations, () => ({ ...context, ...more, actor: { ...context.actor, ...actor } }))
}

export const agent = { name: 'claude', kind: 'agent' } as const
