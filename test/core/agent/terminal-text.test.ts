import { describe, expect, it } from 'vitest'
import { agentState } from '../../../src/core/agent/agent-state.ts'
import { TerminalText } from '../../../src/core/agent/terminal-text.ts'

describe('the text of a terminal', () => {
  const printed =
    '\u001b[1;31mred\u001b[0m\r\n\u001b]0;title\u0007{"a":1}\r\n\u001b(B\u001b[2K50%\r100%\r\n\u001b]8;;x\u001b\\link'
  const plain = 'red\n{"a":1}\n50%\r100%\nlink'

  it('is without colours, titles and carriage returns, however it is cut into pieces', () => {
    for (let size = 1; size <= printed.length; size++) {
      const text = new TerminalText()
      let read = ''
      for (let at = 0; at < printed.length; at += size) read += text.add(printed.slice(at, at + size))
      expect(read + text.end(), `pieces of ${size}`).toBe(plain)
    }
  })

  it('does not wait for ever for the end of a sequence that has none', () => {
    const text = new TerminalText()
    expect(text.add(`\u001b]${'x'.repeat(10_000)}`).length).toBeGreaterThan(5_000)
    expect(text.add('\u001b')).not.toContain('\u001b')
    expect(text.end()).toBe('')
  })
})

describe('the state of an agent', () => {
  const facts = { isDone: false, proven: {} }
  const asks = ['\\(y/n\\)\\s*$']
  const states = { waiting: ['idle'], error: ['Error:'] }

  it.each([
    ['Proceed? (y/n) ', 'question'],
    ['Error: out of memory. Go on? (y/n)', 'question'],
    ['Error: out of memory', 'error'],
    ['idle', 'waiting'],
    ['I read files', 'working'],
    ['', 'working'],
  ])('behind %j is %s', (tail, state) => {
    expect(agentState({ facts, tail, asks, states })).toBe(state)
  })

  it('after the final message is what that proved, whatever the screen shows', () => {
    expect(agentState({ facts: { isDone: true, proven: {} }, tail: 'idle', asks, states })).toBe('done')
    expect(agentState({ facts: { isDone: true, proven: { error: 'x' } }, tail: '', asks })).toBe('error')
  })
})
