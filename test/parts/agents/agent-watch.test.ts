import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TranscriptReader } from '../../../src/core/agent/transcript.ts'
import { Watch } from '../../../src/parts/agents/agent-watch.ts'
import type { AgentProfile } from '../../../src/parts/agents/profile-form.ts'
import { fixture, shipped } from '../../core/agent/fixtures.ts'

const claude = (await shipped()).get('claude') as AgentProfile

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A watch over an agent that prints what it is given. */
function watched() {
  const reader = new TranscriptReader(claude)
  const end = vi.fn()
  const watch = new Watch({ profile: claude, isTerminal: false }, reader, end)
  const prints = (text: string) => {
    reader.add(text)
    watch.heard(text)
  }
  const passes = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000)
  return { watch, end, prints, passes }
}

it('an agent that has answered has 30 seconds, whatever else is printed meanwhile, and the whole time again after another answer', () => {
  const { watch, end, prints, passes } = watched()
  prints(fixture('claude-success'))
  passes(20)
  prints(fixture('claude-success'))
  for (let seconds = 0; seconds < 25; seconds += 5) {
    passes(5)
    prints('npm warn: still here\n{"type":"noise"}\n')
    watch.complained('still here\n')
  }
  expect(end).not.toHaveBeenCalled()
  passes(5)
  expect([watch.hasLingered, end.mock.calls.length]).toEqual([true, 1])
})

it('an agent has two minutes for its first line, and half of one is none', () => {
  const { watch, end, prints, passes } = watched()
  passes(60)
  prints('{"type":"sys')
  passes(59)
  prints('tem"')
  expect(end).not.toHaveBeenCalled()
  passes(1)
  expect(watch.stalled).toBe('no line within 2m')
})

it('a question stalls after five seconds of silence, with a line break behind it or not, and not where the agent goes on', () => {
  const { watch, end, prints, passes } = watched()
  prints('Do you want to proceed?\n')
  passes(4)
  prints('{"type":"assistant","message":{"content":[{"text":"Do you want to proceed?"}]}}\n')
  passes(600)
  expect(end).not.toHaveBeenCalled()
  for (const text of ['Run it? (y/n)\n\n', 'And that? (y/n) ']) {
    prints(text)
    passes(5)
    expect(watch.stalled).toBe(`it asked: ${text.trim()}`)
  }
})
