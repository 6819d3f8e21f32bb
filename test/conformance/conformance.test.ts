import { describe, it } from 'vitest'
import { conformance } from './all.ts'
import { childProgram } from './child-program.ts'
import { memory, postgres, sqliteFile } from './subjects.ts'

const child = await childProgram()

describe.each([memory, sqliteFile, postgres])('$name', (subject) => {
  for (const { name, skip, run } of conformance(subject, child)) {
    if (skip === undefined) it(name, run)
    else it.skip(`${name} (${skip})`)
  }
})
