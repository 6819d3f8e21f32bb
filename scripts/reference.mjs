/** Writes docs/reference from the table of operations, as it was built. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { errorCodes, errorsOfAll } from '../dist/operations/error-codes.js'
import { jsonSchemaOf } from '../dist/operations/json-schema.js'
import { noteOf } from '../dist/operations/note.js'
import { nouns } from '../dist/operations/table.js'
import { operationsPage } from './reference-page.mjs'

const folder = new URL('../docs/reference/', import.meta.url)
mkdirSync(folder, { recursive: true })
const page = operationsPage({ nouns, errorCodes, errorsOfAll, jsonSchemaOf, noteOf })
writeFileSync(new URL('operations.md', folder), page)
process.stdout.write('docs/reference/operations.md is written.\n')
