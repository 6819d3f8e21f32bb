#!/usr/bin/env node
/** Starts the command line. It is here before anything is built, so that npm finds it, and says so where nothing is. */
import { existsSync } from 'node:fs'

const built = new URL('../dist/belfry.js', import.meta.url)
if (existsSync(built)) {
  await import(built.href)
} else {
  process.stderr.write('error: Belfry is not built here yet.\nhint: npm start builds and runs it; npm run build only builds it.\n')
  process.exitCode = 1
}
