import type { Part } from '../../../part.ts'
import { all } from '../../../store/statement.ts'
import { childTables } from './0034-children.ts'
import { endTurns, removeTurns } from './loop-turns.ts'
import { parentHeld } from './parent-held.ts'
import { planOperations } from './plan-verbs.ts'
import { knowsRunToken, removeRunTokens } from './run-token.ts'
import { pauseWithEnds, steerChildren } from './steer-children.ts'
import { wakeOperations } from './wake-verbs.ts'

/** The tasks that agents plan themselves, with the tokens of their runs. */
export const children = {
  name: 'children',
  migrations: [childTables],
  nouns: { task: { operations: { ...planOperations, ...wakeOperations } } },
  knowsToken: knowsRunToken,
  holdReasons: { [parentHeld.code]: parentHeld },
  ofRuns: [removeRunTokens],
  steered: steerChildren,
  ended: Object.assign(
    function* (context, ends) {
      yield* endTurns(context, ends)
      yield* pauseWithEnds(context, ends)
    } satisfies Part['ended'],
    { skipsPlain: true as const },
  ),
  sweeps: [
    function* ({ context: { ns }, rowsLeft }) {
      return (yield* all(removeTurns, ns, rowsLeft)).length
    },
  ],
} as const satisfies Part
