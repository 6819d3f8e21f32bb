import { describe, expect, it } from 'vitest'
import { columns, shownWidth } from '../../../src/doors/cli/show/columns.ts'
import { paintOf } from '../../../src/doors/cli/show/terminal-sheet.ts'

describe('columns', () => {
  it('stand under each other though some cells are coloured', () => {
    const { green, bold } = paintOf(true)
    const [head = '', first = '', second = ''] = columns(
      ['NAME', 'STANDS', 'DOES'],
      [
        [bold('a'), green('waiting'), 'x'],
        ['longer', 'over', 'y'],
      ],
    ).split('\n')
    const at = head.indexOf('DOES')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them.
    const plain = first.replace(/\u001b\[\d+m/g, '')
    expect([plain.indexOf('x'), second.indexOf('y')]).toEqual([at, at])
  })

  it.each([
    ['报告', 4],
    ['レポート', 8],
    ['보고서', 6],
    ['🔔 bell', 7],
    ['naïve', 5],
    ['nai\u0308ve', 5],
    ['ＡＢ', 4],
    ['plain', 5],
  ])('know that %s takes %i columns', (text, width) => {
    expect(shownWidth(text)).toBe(width)
    const [, first = '', second = ''] = columns(
      ['N', 'D'],
      [
        [text, 'x'],
        ['0123456789', 'y'],
      ],
    ).split('\n')
    expect(shownWidth(first.slice(0, first.indexOf('x')))).toBe(second.indexOf('y'))
  })
})
