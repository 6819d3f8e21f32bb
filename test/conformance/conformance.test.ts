import { describe, it } from 'vitest'
import { conformance } from '../../dist/testing.js'
import { memory, postgres, sqliteFile } from './subjects.ts'

describe.each([memory, sqliteFile, postgres])('$name', (subject) => {
  for (const { name, skip, run } of conformance(subject)) {
    if (skip === undefined) it(name, run)
    else it.skip(`${name} (${skip})`)
  }
})
