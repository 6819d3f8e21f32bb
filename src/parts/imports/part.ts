import type { Part } from '../../part.ts'
import { importCronicorn } from './import-cronicorn.ts'
import { importCrontab } from './import-crontab.ts'
import { importWorkflow } from './import-workflow.ts'

/** Imports: schedules, runs and a policy from the files of other schedulers. */
export const imports = {
  name: 'imports',
  nouns: {
    store: {
      operations: { importWorkflow, importCrontab, importCronicorn },
      groups: { import: 'Import from another scheduler.' },
    },
  },
} as const satisfies Part
