import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { noTablesOfVerbs } from './tidy/doors.ts'
import { importDirections } from './tidy/imports.ts'
import { shortFiles, shortFunctions, smallFolders, smallPort } from './tidy/limits.ts'
import { noReadMessages } from './tidy/messages.ts'
import { namesThatSay, noBarrels, noDeadFiles, oneName } from './tidy/names.ts'
import { oneClock, pureCore } from './tidy/purity.ts'
import { Repository, readRepository } from './tidy/repository.ts'
import type { Files, Rule } from './tidy/rule.ts'
import { fixedStatements, namedColumns, uniqueStatements } from './tidy/statements.ts'
import { everyTestRuns, everyVector } from './tidy/told-tests.ts'
import { finishedComments, lockWithoutHosts, noMachines } from './tidy/words.ts'

const rules: readonly Rule[] = [
  shortFiles,
  shortFunctions,
  smallFolders,
  smallPort,
  namesThatSay,
  oneName,
  noBarrels,
  noDeadFiles,
  importDirections,
  noTablesOfVerbs,
  noReadMessages,
  oneClock,
  pureCore,
  everyTestRuns,
  everyVector,
  finishedComments,
  noMachines,
  lockWithoutHosts,
  fixedStatements,
  uniqueStatements,
  namedColumns,
]

const repository = readRepository(fileURLToPath(new URL('..', import.meta.url)))

describe('the repository', () => {
  it('was found, with code, tests and vectors in it', () => {
    expect(repository.files.size).toBeGreaterThan(150)
    expect(repository.under('src').length).toBeGreaterThan(100)
    expect(repository.under('test').map(({ path }) => path)).toContain('test/tidy.test.ts')
    expect([...repository.files.keys()].filter((path) => /^(node_modules|dist|\.git)\//.test(path))).toEqual([])
  })

  for (const { sentence, offenders } of rules) {
    it(sentence, () => expect(offenders(repository)).toEqual([]))
  }
})

describe('a breach is noticed, and what only looks like one is not:', () => {
  const said = (rule: Rule, files: Files) => rule.offenders(new Repository(Object.entries(files)))
  for (const rule of rules) {
    it(rule.sentence, () => {
      expect(rule.broken.length).toBeGreaterThan(0)
      for (const { files, says } of rule.broken) {
        expect(said(rule, files)).toEqual(says.map((words) => expect.stringMatching(words)))
      }
      for (const files of rule.kept) expect(said(rule, files)).toEqual([])
    })
  }
})
