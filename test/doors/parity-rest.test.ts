import { expect, it } from 'vitest'
import { nouns } from '../../src/table.ts'
import { areAlike } from './parity.ts'

areAlike('hold', 'routine', 'sched', 'worker', 'token', 'config', 'store')

it('no noun is left out', () => {
  const known = ['config', 'hold', 'queue', 'routine', 'run', 'sched', 'schedule', 'store', 'token', 'worker']
  expect(Object.keys(nouns).sort()).toEqual(known)
})
