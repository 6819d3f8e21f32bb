import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runCodes } from '../../../src/operations/run/standing-codes.ts'
import { scheduleCodes } from '../../../src/operations/schedule/standing-codes.ts'

const page = readFileSync(new URL('../../../docs/explain.md', import.meta.url), 'utf8')

/** The rows of the table beneath a heading. */
function rowsUnder(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section.split('\n').filter((line) => line.startsWith('| `'))
}

it.each([
  ['A schedule', scheduleCodes],
  ['A run', runCodes],
])(
  'docs/explain.md has under %s every code that can be answered, in the words of the code, and no other',
  (heading, codes) => {
    const wanted = Object.entries(codes).map(([code, { says, unblocks }]) => `| \`${code}\` | ${says} | ${unblocks} |`)
    expect(rowsUnder(heading)).toEqual(wanted)
  },
)

it('every code is told in sentences', () => {
  for (const { says, unblocks } of [...Object.values(runCodes), ...Object.values(scheduleCodes)]) {
    expect(says).toMatch(/^[A-Z].*\.$/)
    expect(unblocks).toMatch(/^[A-Z].*\.$/)
  }
})
