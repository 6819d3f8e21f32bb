/** Copies the prompts of planners to `dist/prompts`, where code of the build finds them wherever it was moved. */
import { cpSync } from 'node:fs'

cpSync(new URL('../src/parts/planner/prompts/', import.meta.url), new URL('../dist/prompts/', import.meta.url), {
  recursive: true,
})
