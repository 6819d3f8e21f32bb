import type { Part } from '../../part.ts'
import { holdOperations } from './hold-verbs.ts'
import { holdsInForce } from './holds-in-force.ts'

/** Holds: the verbs of the rows that keep work from starting. The table and its reads are the kernel's. */
export const holds = {
  name: 'holds',
  nouns: {
    hold: {
      says: 'What keeps work from starting: on everything, a queue, a kind of target, a schedule or a key.',
      plural: 'holds',
      operations: holdOperations,
      otherWords: {
        holds: 'hold list',
        freeze: 'stop',
        'kill-switch': 'stop',
        unfreeze: 'go',
        unstop: 'go',
        'hold ls': 'list',
        'hold add': 'put',
        'hold create': 'put',
        'hold set': 'put',
        'hold delete': 'lift',
        'hold rm': 'lift',
        'hold remove': 'lift',
        'hold release': 'lift',
        'hold stop': 'stop',
      },
    },
  },
  checks: [holdsInForce],
} as const satisfies Part
