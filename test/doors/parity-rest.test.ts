import { expect, it } from 'vitest'
import { nouns } from '../../src/operations/table.ts'
import { areAlike } from './parity.ts'

areAlike('sched', 'worker', 'token', 'config', 'store')

it('no noun is left out', () => {
  expect(Object.keys(nouns).sort()).toEqual(['config', 'queue', 'run', 'sched', 'schedule', 'store', 'token', 'worker'])
})
