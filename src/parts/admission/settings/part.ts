import type { Part } from '../../../part.ts'
import { settingOperations } from './setting-verbs.ts'

/** Settings: what is tuned while everything runs. The table and its reads are the kernel's, because every plan of a schedule follows them. */
export const settings = {
  name: 'settings',
  nouns: {
    setting: {
      says: 'What is tuned while everything runs: spread, catching up, durable tasks.',
      plural: 'settings',
      operations: settingOperations,
      otherWords: { settings: 'setting list', 'setting get': 'list', 'setting put': 'set', 'setting unset': 'reset' },
    },
  },
} as const satisfies Part
