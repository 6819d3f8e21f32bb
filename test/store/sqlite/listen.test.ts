import { expect, test } from 'vitest'
import { listen } from '../../../src/store/sqlite/listen.ts'
import { TestClock } from '../../../src/testing/clock.ts'

function stage() {
  const clock = new TestClock()
  const file = { mark: 7, isReadable: true }
  const heard: number[] = []
  const changeMark = () => {
    if (!file.isReadable) throw new Error('disk I/O error')
    return file.mark
  }
  const stop = listen({ clock, changeMark, heard: () => heard.push(clock.monotonic()) })
  return { clock, file, heard, stop }
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
  })
  clock.advance(10_000)
  expect([calls, mark]).toEqual([1, 2])
})
