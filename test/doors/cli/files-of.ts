import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argumentsOf, fieldsOf } from '../../../src/doors/cli/parse/command-fields.ts'
import type { AnyOperation } from '../../../src/operations/operation.ts'

/** Puts the texts of an input into files, where a command line is told them by their paths. */
export function filesOf(operation: AnyOperation, input: Readonly<Record<string, unknown>>) {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-files-'))
  const paths: Record<string, string> = {}
  for (const { name, kind } of [...argumentsOf(operation), ...fieldsOf(operation)]) {
    const text = input[name]
    if (kind !== 'file' || typeof text !== 'string') continue
    paths[name] = join(folder, name)
    writeFileSync(join(folder, name), text)
  }
  return { paths, remove: () => rmSync(folder, { recursive: true }) }
}
