import { expect, it } from 'vitest'
import { showBackfill } from '../../../src/parts/backfill/show.ts'
import { sheetOf } from '../../doors/cli/shown.ts'

const sheet = sheetOf()

it('a backfill without instants says so, and a long one is cut', () => {
  const empty = { schedule: 's', from: 0, to: 1, made: [], left: [] }
  expect(showBackfill(empty, sheet)).toBe('created 0 runs of s: it has no instant in that range')
  const made = Array.from({ length: 25 }, (_, index) => ({ at: index * 60_000, run: `r-${index}` }))
  const lines = showBackfill({ ...empty, made }, sheet).split('\n')
  expect(lines).toHaveLength(24)
  expect(lines.at(-1)).toBe('  and 5 more; --json has them all')
})
