import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileWatch } from '../../../src/store/sqlite/file-watch.ts'

describe('a file that a store was opened on', () => {
  let folder: string
  let file: string
  let passedMs: number
  const clock = { now: () => 0, monotonic: () => passedMs }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belfry-watch-'))
    file = join(folder, 'b.db')
    writeFileSync(file, 'a store')
    passedMs = 0
  })

  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const vanished = expect.objectContaining({
    code: 'unavailable',
    message: expect.stringContaining('b.db was deleted'),
  })

  it('may be written to by others, and stays the same', () => {
    const watch = new FileWatch(file, clock)
    writeFileSync(file, 'more')
    passedMs = 5_000
    expect(() => watch.refuseVanished()).not.toThrow()
  })

  it('is refused once it is deleted, again and again', () => {
    const watch = new FileWatch(file, clock)
    rmSync(file)
    expect(() => watch.refuseVanished()).not.toThrow()
    passedMs = 1_000
    expect(() => watch.refuseVanished()).toThrow(vanished)
    expect(() => watch.refuseVanished()).toThrow(vanished)
  })

  it('is refused once another has its name, and welcome when it is back', () => {
    const watch = new FileWatch(file, clock)
    renameSync(file, `${file}.old`)
    writeFileSync(file, '')
    passedMs = 1_000
    expect(() => watch.refuseVanished()).toThrow(vanished)
    renameSync(`${file}.old`, file)
    expect(() => watch.refuseVanished()).not.toThrow()
  })

  it('is refused once it was truncated to 0 bytes', () => {
    const watch = new FileWatch(file, clock)
    writeFileSync(file, '')
    passedMs = 1_000
    expect(() => watch.refuseVanished()).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: `${file} was truncated to 0 bytes while it was open here.`,
      }),
    )
  })

  it('is none where the store is in memory', () => {
    const watch = new FileWatch('memory:', clock)
    passedMs = 5_000
    expect(() => watch.refuseVanished()).not.toThrow()
  })
})
