import { inspect } from 'node:util'
import { expect } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import type { Store } from '../../src/store/port.ts'

/** The refusal that an opening must end in; a store that opens after all is closed and is a failure of the test. */
export async function refusalOf(opening: Promise<Pick<Store, 'close'>>): Promise<BelfryError> {
  const error = await opening.then(
    async (store) => {
      await store.close()
      return new Error('The store was opened.')
    },
    (refused: unknown) => refused,
  )
  if (error instanceof BelfryError) return error
  return expect.unreachable(`not a refusal: ${inspect(error)}`)
}

/** Everything that a log or a terminal could show of an error, its causes included. */
export function shownOf(error: unknown): string {
  return inspect(error, { depth: 20, showHidden: true })
}
