import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { openHandle } from '../../../src/store/sqlite/driver.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('whoever copies the file alone after a clean close has everything in it', async () => {
  const file = join(folder, 'belfry.db')
  const store = await openStore(`sqlite:${file}`)
  const [run] = await store.enqueue([{ payload: 'kept' }])
  await store.close()
  copyFileSync(file, join(folder, 'copy.db'))
  const copy = await openStore(`sqlite:${join(folder, 'copy.db')}`)
  expect(await copy.look(findRun, run?.id ?? '')).toMatchObject({ payload: 'kept' })
  await copy.close()
})

test('a log that grew past 64 MB while somebody read is truncated by the next round of retention', async () => {
  const file = join(folder, 'belfry.db')
  const store = await openStore(`sqlite:${file}`)
  await store.enqueue([{}])
  const reader = openHandle(file)
  reader.exec('begin')
  reader.prepare('select count(*) from run').get()
  const payload = 'x'.repeat(250_000)
  for (let batch = 0; batch < 28; batch++) await store.enqueue(Array.from({ length: 10 }, () => ({ payload })))
  reader.exec('commit')
  reader.close()
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(64 * 1024 * 1024)

  await store.prune({ limit: 100 })
  expect(statSync(`${file}-wal`).size).toBe(0)
  await store.close()
})
