import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { cliPage } from '../../../scripts/cli-page.mjs'
import { wholly } from '../../../src/doors/cli/parse/lazy-command.ts'
import { type Actions, program } from '../../../src/doors/cli/parse/program.ts'
import { commandLine } from '../../../src/doors/cli/spelling/command-line.ts'
import { errorCodes } from '../../../src/operations/error-codes.ts'
import { commandOf } from '../../../src/operations/operation.ts'
import { operations } from '../../../src/table.ts'

const page = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')

it('docs/reference/cli.md is what the commands say; if not, npm run reference writes it anew', () => {
  const root = wholly(program('', {} as Actions))
  expect(page).toBe(cliPage({ root, operations, commandOf, commandLine, errorCodes }))
})

it('the page has every command', () => {
  const commands = operations.filter(({ doors }) => doors.cli === true).map((each) => commandOf(each).join(' '))
  for (const words of [...commands, 'up', 'mcp', 'apply', 'trust']) expect(page).toContain(`\n### ${words}\n`)
})

it('no command has the examples of another: mcp, apply, trust and the aliases of verbs have their own', () => {
  for (const section of page.split('\n### ').slice(1)) {
    const [words = ''] = section.split('\n')
    const examples = /```sh\n([\s\S]*?)\n```/.exec(section)?.[1]?.split('\n') ?? []
    const strangers = examples.filter((line) => line !== `belfry ${words}` && !line.startsWith(`belfry ${words} `))
    expect(examples.length, words).toBeGreaterThan(0)
    expect(strangers, words).toEqual([])
  }
})
