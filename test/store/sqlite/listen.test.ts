import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHandle } from '../../../src/store/sqlite/driver.ts'
import { listen, watchLog } from '../../../src/store/sqlite/listen.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'

function stage() {
  const clock = new TestClock()
  const file = { mark: 7, isReadable: true }
  const heard: number[] = []
  const changeMark = () => {
    if (!file.isReadable) throw new Error('disk I/O error')
    return file.mark
  }
  const system = { tells: () => undefined as unknown, isAsked: true }
  const watch = (changed: () => void) => {
    system.tells = changed
    return () => {
      system.isAsked = false
    }
  }
  const stop = listen({ clock, changeMark, heard: () => heard.push(clock.monotonic()), watch })
  return { clock, file, heard, system, stop }
}

test('a change is heard once, within 250 ms, and a file that stays as it is wakes nobody', () => {
  const { clock, file, heard } = stage()
  clock.advance(1_000)
  expect(heard).toEqual([])
  file.mark++
  clock.advance(1_000)
  expect(heard).toHaveLength(1)
  expect(heard[0]).toBeLessThanOrEqual(1_250)
})

test('a file that cannot be looked at may have changed, and looking goes on', () => {
  const { clock, file, heard } = stage()
  file.isReadable = false
  clock.advance(200)
  expect(heard).toHaveLength(2)
  file.isReadable = true
  clock.advance(100)
  expect(heard).toHaveLength(3)
  clock.advance(1_000)
  expect(heard).toHaveLength(3)
})

test('who stops listening while he is called is not called again, and leaves no timer', () => {
  const clock = new TestClock()
  let [mark, calls] = [0, 0]
  const stop = listen({
    clock,
    changeMark: () => ++mark,
    heard: () => {
      calls++
      stop()
    },
    watch: () => () => undefined,
  })
  clock.advance(10_000)
  expect([calls, mark]).toEqual([1, 2])
})

test('a change that is told is heard as soon as it is committed, and not later than the next look', () => {
  const { clock, file, heard, system } = stage()
  clock.advance(150)
  system.tells()
  expect(heard).toEqual([])
  clock.advance(4)
  file.mark++
  clock.advance(6)
  expect(heard).toEqual([158])
})

test('what is told and changes nothing is looked for a few times, and wakes nobody', () => {
  const { clock, heard, system } = stage()
  for (let told = 0; told < 5; told++) {
    system.tells()
    clock.advance(1_000)
  }
  expect(heard).toEqual([])
})

test('a few writes one soon after the other are heard of one by one, without a rest between them', () => {
  const { clock, file, heard, system } = stage()
  for (let written = 0; written < 4; written++) {
    system.tells()
    file.mark++
    clock.advance(6)
  }
  expect(heard).toEqual([1, 7, 13, 19])
})

test('others who write without a pause are heard of now and then, not at each write', () => {
  const { clock, file, heard, system } = stage()
  for (let written = 0; written < 1_000; written++) {
    file.mark++
    system.tells()
    clock.advance(1)
  }
  expect(heard.length).toBeGreaterThan(20)
  expect(heard.length).toBeLessThan(120)
})

test('who stops listening is not told any more, also where a look was due', () => {
  const { clock, file, heard, system, stop } = stage()
  system.tells()
  stop()
  file.mark++
  clock.advance(1_000)
  expect([heard, system.isAsked]).toEqual([[], false])
})

test('the system tells of what another handle writes to the log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-watch-'))
  const file = join(folder, 'belfry.db')
  const [mine, other] = [openHandle(file), openHandle(file)]
  mine.exec('pragma journal_mode = wal; create table t (x)')
  let end = () => undefined as unknown
  const told = new Promise<void>((resolve) => {
    end = watchLog(file)(resolve)
  })
  other.exec('insert into t values (1)')
  await told
  end()
  for (const handle of [mine, other]) handle.close()
  rmSync(folder, { recursive: true })
})

test('where the system cannot tell, nobody is told, and nothing fails', () => {
  const end = watchLog(join(tmpdir(), 'no', 'such', 'file'))(() => undefined)
  expect(end).not.toThrow()
})
