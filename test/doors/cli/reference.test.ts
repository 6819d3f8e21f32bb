import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { cliPage } from '../../../scripts/cli-page.mjs'
import { commandLine } from '../../../src/doors/cli/command-line.ts'
import { wholly } from '../../../src/doors/cli/finished.ts'
import { type Actions, program } from '../../../src/doors/cli/program.ts'
import { errorCodes } from '../../../src/operations/error-codes.ts'
import { commandOf } from '../../../src/operations/operation.ts'
import { operations } from '../../../src/operations/table.ts'

const page = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')

it('docs/reference/cli.md is what the commands say; if not, npm run reference writes it anew', () => {
  const root = wholly(program('', {} as Actions))
  expect(page).toBe(cliPage({ root, operations, commandOf, commandLine, errorCodes }))
})

it('the page has every command', () => {
  const commands = operations.filter(({ doors }) => doors.cli === true).map((each) => commandOf(each).join(' '))
  for (const words of [...commands, 'up']) expect(page).toContain(`\n### ${words}\n`)
})
