import type { Part } from '../../../part.ts'
import { list } from './admission-list.ts'

/** One answer to the question what keeps work from starting now. */
export const overview = {
  name: 'admission',
  nouns: {
    admission: {
      says: 'What keeps work from starting now.',
      plural: 'admission',
      operations: {
        /** List what keeps work from starting: every hold in force, spent budgets of tags, and workers that start nothing; with who, why, until when, and what lifts it. */
        list,
      },
      otherWords: { admissions: 'admission', 'admission list': 'list', blocked: 'admission' },
    },
  },
} as const satisfies Part
