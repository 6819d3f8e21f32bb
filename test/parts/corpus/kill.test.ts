import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PhaseKills } from '../../faults/phase-kills.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'
import { scratchFolder } from '../../scratch.ts'
import type { StoreKind } from './scene.ts'

async function opened(kind: StoreKind): Promise<PhaseKills> {
  const folder = mkdtempSync(join(scratchFolder(), 'phases-'))
  const schema = kind === 'SQLite' ? undefined : lendSchema()
  const kills = await PhaseKills.open(
    schema === undefined
      ? { store: `sqlite:${join(folder, 'belfry.db')}`, folder }
      : { store: postgresUrl(), schema, folder },
  )
  onTestFinished(async () => {
    await kills.close()
    if (schema !== undefined) await returnSchema(schema)
    rmSync(folder, { recursive: true, force: true })
  })
  return kills
}

const timeout = 120_000

/** `npm run faults -- --only F34` kills at many more points, on both databases. */
describe('a worker in the middle of a phase', { timeout }, () => {
  it('is killed at a point of it: the document is whole, the edit is there, and what was committed is not paid again', async () => {
    const kills = await opened('SQLite')
    const { points, troubles } = await kills.strike()
    expect(troubles).toEqual([])
    expect(points).toBeGreaterThan(20)
    for (const share of [0.5, 0.8]) {
      expect((await kills.strike({ point: Math.ceil((points ?? 0) * share) })).troubles).toEqual([])
    }
  })

  it.each<[string, StoreKind]>([
    ['fsyncSync', 'SQLite'],
    ['renameSync', 'PostgreSQL'],
  ])(
    'is stopped at %s on %s for longer than its lease, beside another worker: there is one commit',
    async (at, kind) => {
      expect((await (await opened(kind)).pause(at)).troubles).toEqual([])
    },
  )
})
