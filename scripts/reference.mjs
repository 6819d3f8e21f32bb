/** Writes docs/reference from the table of operations and the commands made of it, as they were built. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { commandLine } from '../dist/doors/cli/command-line.js'
import { wholly } from '../dist/doors/cli/finished.js'
import { program } from '../dist/doors/cli/program.js'
import { errorCodes, errorsOfAll } from '../dist/operations/error-codes.js'
import { jsonSchemaOf } from '../dist/operations/json-schema.js'
import { noteOf } from '../dist/operations/note.js'
import { commandOf } from '../dist/operations/operation.js'
import { nouns, operations } from '../dist/table.js'
import { cliPage } from './cli-page.mjs'
import { operationsPage } from './reference-page.mjs'

const folder = new URL('../docs/reference/', import.meta.url)
mkdirSync(folder, { recursive: true })
const pages = {
  'operations.md': operationsPage({ nouns, errorCodes, errorsOfAll, jsonSchemaOf, noteOf }),
  'cli.md': cliPage({ root: wholly(program('', {})), operations, commandOf, commandLine, errorCodes }),
}
for (const [name, page] of Object.entries(pages)) {
  writeFileSync(new URL(name, folder), page)
  process.stdout.write(`docs/reference/${name} is written.\n`)
}
