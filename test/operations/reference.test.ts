import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { operationsPage } from '../../scripts/reference-page.mjs'
import { kinds } from '../../src/kinds.ts'
import { errorCodes, errorsOfAll } from '../../src/operations/error-codes.ts'
import { jsonSchemaOf } from '../../src/operations/schema/json-schema.ts'
import { noteOf } from '../../src/operations/schema/schema-note.ts'
import { nouns, operations } from '../../src/table.ts'

const page = readFileSync(new URL('../../docs/reference/operations.md', import.meta.url), 'utf8')

it('docs/reference/operations.md is what the table says; if not, npm run reference writes it anew', () => {
  expect(page).toBe(
    operationsPage({
      nouns,
      errorCodes,
      errorsOfAll,
      jsonSchemaOf,
      noteOf,
      kinds,
    }),
  )
})

it('the page has every verb and every field, and no link that leads nowhere', () => {
  for (const { noun, verb, input } of operations) {
    const section = page.split(`\n### ${noun} ${verb}\n`)[1]?.split('\n### ')[0] ?? ''
    for (const field of Object.keys(input.shape)) expect(section).toContain(`\`${field}\``)
  }
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text)
  const anchors = headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  expect(new Set(anchors).size).toBe(anchors.length)
  for (const [, anchor] of page.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor)
})
