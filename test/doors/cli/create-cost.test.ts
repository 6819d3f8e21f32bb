import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as core from '../../../src/core/schedule/schedule-spec.ts'
import { SqlStore } from '../../../src/store/sql-store.ts'
import { Terminal } from './terminal.ts'

vi.mock('../../../src/core/schedule/schedule-spec.ts', async (importOriginal) => {
  const own = await importOriginal<typeof core>()
  return { ...own, scheduleProblems: vi.fn(own.scheduleProblems) }
})

/** What a command asks of the store: the names of its reads and of its writes. */
function watched() {
  const reads: string[] = []
  const writes: string[] = []
  const { look, do: write } = SqlStore.prototype
  vi.spyOn(SqlStore.prototype, 'look').mockImplementation(function (this: SqlStore, read, ...args) {
    reads.push(read.name)
    return look.call(this, read, ...args) as never
  })
  vi.spyOn(SqlStore.prototype, 'do').mockImplementation(function (this: SqlStore, verb, ...args) {
    writes.push(verb.name)
    return write.call(this, verb, ...args) as never
  })
  return { reads, writes }
}

describe('belfry schedule create', () => {
  let terminal: Terminal
  const create = 'schedule create ping --cron @daily --queue mail --handler ping'
  beforeEach(() => {
    terminal = new Terminal()
    vi.mocked(core.scheduleProblems).mockClear()
  })
  afterEach(() => {
    terminal.remove()
    vi.restoreAllMocks()
  })

  it.each(['', ' --json'])('does one write and at most two reads, and judges the schedule once%s', async (how) => {
    await terminal.belfry('queue set default --max-concurrent 2')
    const { reads, writes } = watched()
    expect(await terminal.belfry(create + how)).toMatchObject({ exit: 0, stderr: expect.stringContaining('no worker') })
    expect(writes).toEqual(['putSchedule'])
    expect(reads).toEqual(['scheduleNow', 'workersNow'])
    expect(core.scheduleProblems).toHaveBeenCalledTimes(1)
  })

  it('makes the store by its write, asks nothing of another, and judges the schedule once there too', async () => {
    const { reads, writes } = watched()
    expect(await terminal.belfry(create)).toMatchObject({ exit: 0, stdout: expect.stringContaining('created ping') })
    expect([reads, writes]).toEqual([['workersNow'], ['putSchedule']])
    expect(core.scheduleProblems).toHaveBeenCalledTimes(1)
    expect((await terminal.belfry('schedule show ping')).exit).toBe(0)
  })

  it.each([
    ['a calendar that is wrong', create.replace('@daily', '61'), 2],
    ['a version that nothing can have', `${create} --if-version 3`, 3],
    ['a payload that is too large', `${create} --payload "${'x'.repeat(300_000)}"`, 2],
    ['a version of a queue that nothing can have', 'queue set mail --max-concurrent 2 --if-version 3', 4],
  ])('makes none where it is refused for %s', async (_, command, exit) => {
    const { reads, writes } = watched()
    expect((await terminal.belfry(command)).exit).toBe(exit)
    expect([reads, writes, readdirSync(terminal.folder)]).toEqual([[], [], []])
  })

  it('makes none where work is refused by the store itself', async () => {
    const typed = ['run', 'enqueue', '--handler', 'ping', '--payload', JSON.stringify('x'.repeat(300_000))]
    expect(await terminal.belfry(typed)).toMatchObject({ exit: 2, stderr: expect.stringContaining('payload') })
    expect(readdirSync(terminal.folder)).toEqual([])
  })
})
