import { readFileSync } from 'node:fs'

/** The version of this package, as its own file tells it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
