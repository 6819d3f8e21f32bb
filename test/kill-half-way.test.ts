import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'vitest'
import { killHalfWay } from '../scripts/kill-half-way.mjs'
import { postgresUrl } from './postgres.ts'

/** The short form of `npm run prove:kill`. */
const short = { schedules: 20, seconds: 6 }

function storeOf(place: string, { onTestFinished }: TestContext): string {
  if (place === 'PostgreSQL') return postgresUrl()
  const folder = mkdtempSync(join(tmpdir(), 'belfry-kill-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'belfry.db')}`
}

it.concurrent.for(['SQLite', 'PostgreSQL'])(
  'every occurrence has exactly one end on %s although a worker is killed in the middle of its runs',
  async (place, context) => {
    const { expect } = context
    const { ends, occurrences, runs, lost, wrong, unknown } = await killHalfWay({
      store: storeOf(place, context),
      schema: 'killed',
      ...short,
    })
    expect({ wrong, unknown }).toEqual({ wrong: [], unknown: [] })
    expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(occurrences)
    expect(ends.completed).toBe(runs)
    expect(lost).toBeGreaterThan(0)
  },
)
