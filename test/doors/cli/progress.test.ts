import { describe, expect, it } from 'vitest'
import { withProgress } from '../../../src/doors/cli/show/progress.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'

function stage(isTTY: boolean) {
  const clock = new TestClock()
  const told: string[] = []
  return { clock, told, stderr: { isTTY, write: (text: string) => told.push(text) } }
}

const clear = '\r\u001b[K'

describe('what takes long', () => {
  it('is told from the first second on, counted, and taken back when it is over', async () => {
    const { clock, told, stderr } = stage(true)
    let end: (value: string) => void = () => undefined
    const done = withProgress({ stderr, clock }, 'looking', new Promise<string>((resolve) => (end = resolve)))
    clock.advance(999)
    expect(told).toEqual([])
    clock.advance(1)
    clock.advance(2_000)
    expect(told).toEqual([`${clear}looking … 1 s`, `${clear}looking … 2 s`, `${clear}looking … 3 s`])
    end('found')
    expect(await done).toBe('found')
    clock.advance(10_000)
    expect(told.slice(3)).toEqual([clear])
  })

  it('is taken back also when it fails', async () => {
    const { clock, told, stderr } = stage(true)
    let fail: (error: Error) => void = () => undefined
    const done = withProgress({ stderr, clock }, 'looking', new Promise<never>((_, reject) => (fail = reject)))
    clock.advance(1_000)
    fail(new Error('gone'))
    await expect(done).rejects.toThrow('gone')
    expect(told.at(-1)).toBe(clear)
  })

  it('is not told to a file, nor where it took no second', async () => {
    const { clock, told, stderr } = stage(false)
    const slow = withProgress({ stderr, clock }, 'looking', new Promise<void>((resolve) => clock.after(5_000, resolve)))
    clock.advance(5_000)
    await slow
    const quick = stage(true)
    await withProgress(quick, 'looking', Promise.resolve())
    quick.clock.advance(5_000)
    expect([...told, ...quick.told]).toEqual([])
  })
})
