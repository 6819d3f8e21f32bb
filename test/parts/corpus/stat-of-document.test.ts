import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  documentPath,
  metaFolderOf,
  readDocument,
  renameIntoPlace,
  writeBeside,
} from '../../../src/parts/corpus/tree/document-file.ts'
import { scratchFolder } from '../../scratch.ts'

/** Another program, which replaces the document again and again by a longer one. */
const replacing = `
const { renameSync, writeFileSync } = require('node:fs')
const [file] = process.argv.slice(1)
for (let length = 10; ; length += 1) {
  writeFileSync(file + '.new', 'x'.repeat(length))
  renameSync(file + '.new', file)
  if (length === 10) process.stdout.write('it replaces')
}`

const rounds = 500
const sizeIn = (stat: string) => Number.parseInt(stat, 10)

it('what a document looked like is never taken from the text of another hand, which no scan would read any more', async () => {
  const root = mkdtempSync(join(scratchFolder(), 'belfry-stat-'))
  mkdirSync(metaFolderOf(root, '.'))
  const other = spawn(process.execPath, ['-e', replacing, documentPath(root, '.')])
  const gone = once(other, 'exit')
  onTestFinished(async () => {
    other.kill('SIGKILL')
    await gone
    rmSync(root, { recursive: true, force: true })
  })
  await once(other.stdout, 'data')
  let [longest, newer] = [0, 0]
  for (let seen = 0; seen < rounds; ) {
    const read = readDocument(root, '.')
    if (read === null || read.text.length === longest) continue
    seen += 1
    longest = read.text.length
    if (sizeIn(read.stat) > longest) newer += 1
  }
  let foreign = 0
  for (let round = 0; round < rounds; round += 1) {
    if (sizeIn(renameIntoPlace(root, '.', writeBeside(root, '.', '{}', 'own'))) !== 2) foreign += 1
  }
  expect({ newer, foreign }).toEqual({ newer: 0, foreign: 0 })
})
