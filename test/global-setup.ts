import { execFileSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../scripts/postgres-server.mjs'

/** Builds what child processes run, and starts the one PostgreSQL that the test files share. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const server = await startPostgres()
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}
