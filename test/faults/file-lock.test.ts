import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { holdsWriteLock, isWriter } from './file-lock.ts'

// Only Linux lists who holds which lock.
it.skipIf(process.platform !== 'linux')('tells who is inside a write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-lock-'))
  const file = join(folder, 'a.db')
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode=wal; create table a (b)')
  expect(holdsWriteLock(process.pid, file)).toBe(false)
  database.exec('begin immediate')
  expect(holdsWriteLock(process.pid, file)).toBe(true)
  expect(holdsWriteLock(process.ppid, file)).toBe(false)
  database.exec('rollback')
  expect(holdsWriteLock(process.pid, file)).toBe(false)
  database.close()
  rmSync(folder, { recursive: true })
})

it('knows a waiting process, a reader and other bytes from a writer', () => {
  const writer = '1: POSIX  ADVISORY  WRITE 42 fe:00:77 120 120'
  expect(isWriter(writer, 42, 77)).toBe(true)
  expect(isWriter(writer, 42, 7)).toBe(false)
  expect(isWriter(writer.replace('1: ', '1: -> '), 42, 77)).toBe(false)
  expect(isWriter(writer.replace('WRITE', 'READ'), 42, 77)).toBe(false)
  expect(isWriter(writer.replace('120 120', '121 127'), 42, 77)).toBe(false)
})
