/** Copies the pages that models may read to `dist/doc-pages`. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { docPages } from '../dist/doors/mcp/doc-pages.js'

const folder = new URL('../dist/doc-pages/', import.meta.url)
mkdirSync(folder, { recursive: true })
for (const { name } of docPages)
  copyFileSync(new URL(`../docs/${name}.md`, import.meta.url), new URL(`${name}.md`, folder))
