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
        /** List every hold in force: what it stops, how many runs wait, who put it, why, until when, and what lifts it. */
        list,
      },
      otherWords: { admissions: 'admission', 'admission list': 'list', blocked: 'admission' },
    },
  },
} as const satisfies Part
