import type { Judged } from './judge.ts'

const opening = `# Mutants

Each line is a small deliberate breakage of the product. \`npm run mutants\` makes them one by one in a copy of the
repository and runs the tests that should notice; it fails if one survives. A mutant that survives is a missing test.

This page is written by \`npm run mutants -- --docs\`; the last column names the test that failed first.

`

/** The page that tells what was broken and who noticed. */
export function pageOf(rows: readonly string[]): string {
  return `${opening}| mutant | what is broken | caught by |\n|---|---|---|\n${rows.join('\n')}\n`
}

/** The rows of all mutants in their order: new ones for those that were judged, and the others as the page has them. */
export function rowsOf(ids: readonly string[], judged: readonly Judged[], page: string): string[] {
  const known = new Map(page.split('\n').map((line) => [/^\| `([^`]+)` \|/.exec(line)?.[1], line]))
  const fresh = new Map(judged.map((one) => [one.id, rowOf(one)]))
  return ids.flatMap((id) => fresh.get(id) ?? known.get(id) ?? [])
}

function rowOf({ id, hazard, fate, by, file }: Judged): string {
  const caught = fate.startsWith('caught') ? `${by} (\`${file}\`)` : fate
  return `| \`${id}\` | ${cell(hazard)} | ${cell(caught)} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

/** One line a mutant, for a terminal. */
export function lineOf({ id, fate, by, seconds, file }: Judged): string {
  return `${fate.padEnd(13)} ${id.padEnd(38)} ${seconds.toFixed(1).padStart(6)} s  ${file} ${by}`.trimEnd()
}
