import { existsSync, readFileSync } from 'node:fs'

/** A page of the documentation that models may read. */
export interface DocPage {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly mimeType: 'text/markdown'
  readonly annotations: { readonly priority: number; readonly lastModified: string }
}

/** The pages by their file in docs/; pages that a model needs first to steer schedules have the highest priority. */
const pages: readonly (readonly [file: string, title: string, priority: number, lastModified: string])[] = [
  ['scheduling', 'How scheduling works', 0.9, '2026-11-18'],
  ['adaptation', 'How adaptation works', 0.9, '2026-11-18'],
  ['groups', 'Coordinating siblings', 0.7, '2026-11-18'],
  ['limits', 'Limits', 0.6, '2026-11-19'],
  ['architecture', 'Architecture', 0.3, '2026-11-18'],
]

export const docPages: readonly DocPage[] = pages.map(([name, title, priority, date]) => ({
  uri: `belfry://docs/${name}`,
  name,
  title,
  description: `A page of the documentation: ${title}.`,
  mimeType: 'text/markdown',
  annotations: { priority, lastModified: `${date}T00:00:00Z` },
}))

/** The build copies the pages to a folder of this name at its top, where code is moved and joined; the sources have them in docs/. */
const folders = ['doc-pages', 'docs']
const levelsMax = 3

/** The text of a page; null where there is none, as in a program that was bundled without them. */
export function docText(uri: string): string | null {
  const page = docPages.find((each) => each.uri === uri)
  if (page === undefined) return null
  for (let level = 0; level <= levelsMax; level++) {
    for (const folder of folders) {
      const file = new URL(`./${'../'.repeat(level)}${folder}/${page.name}.md`, import.meta.url)
      if (existsSync(file)) return readFileSync(file, 'utf8')
    }
  }
  return null
}
