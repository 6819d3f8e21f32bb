/** Writes docs/reference, and what docs/explain.md and docs/doctor.md take from the catalogue of reasons, as they were built. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { wholly } from '../dist/doors/cli/parse/lazy-command.js'
import { program } from '../dist/doors/cli/parse/program.js'
import { commandLine } from '../dist/doors/cli/spelling/command-line.js'
import { kinds } from '../dist/kinds.js'
import { errorCodes, errorsOfAll } from '../dist/operations/error-codes.js'
import { commandOf } from '../dist/operations/operation.js'
import { runReasons } from '../dist/operations/reasons/run-reasons.js'
import { scheduleReasons } from '../dist/operations/reasons/schedule-reasons.js'
import { jsonSchemaOf } from '../dist/operations/schema/json-schema.js'
import { noteOf } from '../dist/operations/schema/schema-note.js'
import { kernelChecks } from '../dist/operations/store/doctor.js'
import { checks, holdReasons, nouns, operations } from '../dist/table.js'
import { cliPage } from './cli-page.mjs'
import { doctorPage, explainPage } from './reasons-page.mjs'
import { operationsPage } from './reference-page.mjs'

const folder = new URL('../docs/', import.meta.url)
mkdirSync(new URL('reference/', folder), { recursive: true })
const written = (name) => readFileSync(new URL(name, folder), 'utf8')
const pages = {
  'reference/operations.md': operationsPage({ nouns, errorCodes, errorsOfAll, jsonSchemaOf, noteOf, kinds }),
  'reference/cli.md': cliPage({ root: wholly(program('', {})), operations, commandOf, commandLine, errorCodes }),
  'explain.md': explainPage(written('explain.md'), {
    'A schedule': scheduleReasons,
    'A run': runReasons,
    'A hold': holdReasons,
  }),
  'doctor.md': doctorPage(written('doctor.md'), [...kernelChecks, ...checks]),
}
for (const [name, page] of Object.entries(pages)) {
  writeFileSync(new URL(name, folder), page)
  process.stdout.write(`docs/${name} is written.\n`)
}
