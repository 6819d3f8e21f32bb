import { describe, expect, it } from 'vitest'
import { Backlog } from '../../src/engine/leases/backlog.ts'

const half = 512 * 1024
const dropped = (count: number) => `\n[belfry: ${count} characters came faster than they could be kept]\n`

function backlogOf(...parts: string[]): Backlog {
  const backlog = new Backlog()
  for (const part of parts) backlog.add(part)
  return backlog
}

describe('a backlog of output', () => {
  it('gives back what it was given, in order and once', () => {
    const backlog = backlogOf('one ', 'two ', 'three')
    expect(backlog.length).toBe(13)
    expect(backlog.take()).toBe('one two three')
    expect(backlog.length).toBe(0)
    expect(backlog.take()).toBe('')
  })

  it('holds two halves whole', () => {
    const text = `${'a'.repeat(half)}${'b'.repeat(half)}`
    expect(backlogOf(text).take()).toBe(text)
  })

  it('drops what lies between its first and its last half, and says how much', () => {
    const backlog = backlogOf('a'.repeat(half), 'b'.repeat(1_000), 'c'.repeat(half))
    expect(backlog.length).toBe(2 * half)
    expect(backlog.take()).toBe(`${'a'.repeat(half)}${dropped(1_000)}${'c'.repeat(half)}`)
    backlog.add('after')
    expect(backlog.take()).toBe('after')
  })

  it('cuts a piece that is larger than all it holds', () => {
    const text = backlogOf(`${'a'.repeat(half)}${'b'.repeat(7)}${'c'.repeat(half)}`).take()
    expect(text).toBe(`${'a'.repeat(half)}${dropped(7)}${'c'.repeat(half)}`)
  })

  it('holds no more than that of a flood in small pieces, and its end is the end', () => {
    const backlog = new Backlog()
    for (let line = 0; line < 40_000; line++) backlog.add(`${String(line).padStart(99, '.')}\n`)
    expect(backlog.length).toBeLessThanOrEqual(2 * half)
    const lengthHeld = backlog.length
    const text = backlog.take()
    expect(text).toContain(dropped(4_000_000 - lengthHeld))
    expect(text.startsWith(`${'.'.repeat(98)}0\n`)).toBe(true)
    expect(text.endsWith('39998\n'.padStart(100, '.') + '39999\n'.padStart(100, '.'))).toBe(true)
  })

  it('cuts no character in two', () => {
    const backlog = backlogOf(`${'a'.repeat(half - 1)}😀`, 'b')
    expect(backlog.take()).toBe(`${'a'.repeat(half - 1)}😀b`)
    const flood = backlogOf(`${'a'.repeat(half - 1)}😀`, 'b'.repeat(half)).take()
    expect(flood).toBe(`${'a'.repeat(half - 1)}${dropped(2)}${'b'.repeat(half)}`)
  })
})
