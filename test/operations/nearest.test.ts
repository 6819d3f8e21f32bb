import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/operations/input/nearest-name.ts'

describe('the name that was meant', () => {
  const fields = [
    'cron',
    'every',
    'everyMs',
    'maxLateness',
    'maxLatenessMs',
    'priority',
    'timeout',
    'timeoutMs',
    'zone',
  ]

  it.each([
    ['corn', 'cron'],
    ['evry', 'every'],
    ['everyms', 'everyMs'],
    ['maxLatness', 'maxLateness'],
    ['timeoutSeconds', 'timeout'],
    ['prio', 'priority'],
    ['Zone', 'zone'],
    ['timezone', 'zone'],
    ['retries', undefined],
    ['x', undefined],
    ['', undefined],
  ])('of %j is %j', (written, meant) => {
    expect(nearest(written, fields)).toBe(meant)
  })

  it('is none where nothing is known', () => {
    expect(nearest('cron', [])).toBeUndefined()
  })
})
