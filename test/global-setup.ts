import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../scripts/postgres-server.mjs'
import { scratchFolder } from './scratch.ts'

const sources = ['src', 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
/** The last thing that a build writes. */
const built = 'dist/belfry.js'

/** Builds what child processes run, unless that was done since the sources were last written; and starts the one PostgreSQL that the test files share. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (!isBuilt()) execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const server = await startPostgres({ folder: scratchFolder() })
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}

function isBuilt(): boolean {
  const at = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return Math.max(...sources.map(lastWritten)) < at
}

/** When a file was last written, or anything below a folder; a file that was taken away changes its folder. */
function lastWritten(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => lastWritten(`${path}/${name}`)))
}
