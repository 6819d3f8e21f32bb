import { expect, it } from 'vitest'
import { nouns } from '../../src/table.ts'
import { areAlike } from './parity.ts'

areAlike('routine', 'sched', 'worker', 'token', 'config', 'store')

it('no noun is left out', () => {
  const known = ['config', 'queue', 'routine', 'run', 'sched', 'schedule', 'store', 'token', 'worker']
  expect(Object.keys(nouns).sort()).toEqual(known)
})
