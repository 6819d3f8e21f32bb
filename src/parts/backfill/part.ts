import type { Part } from '../../part.ts'
import { backfill as verb } from './backfill.ts'

/** Backfill: runs for past instants of a schedule. */
export const backfill = {
  name: 'backfill',
  nouns: {
    schedule: {
      operations: { backfill: verb },
      otherWords: { 'schedule replay': 'backfill', 'schedule catchup': 'backfill' },
    },
  },
  origins: {
    backfill: {
      sentence: () => 'A backfill created it for a past instant of its schedule; that does not move its occurrences.',
      asked: 'by hand',
    },
  },
} as const satisfies Part
