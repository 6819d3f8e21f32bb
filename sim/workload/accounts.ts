import type { RateLimited } from '../../src/core/run/expect.ts'
import { blockByHand, putAccount, unblockByHand } from '../../src/parts/admission/accounts/write-account.ts'
import type { World } from '../world.ts'

const actor = { name: 'somebody', door: 'simulation' }
const accountNames = ['shared', 'spare'] as const
/** A block that lasts longer would outlast the history. */
const blockMaxMs = 3_000

/** Makes the accounts of a world, or changes what bounds one of them, or blocks or opens it. */
export async function actOnAccount({ random, people, clock }: World, isFirst = false): Promise<unknown> {
  const { store } = people
  const put = (name: string) =>
    store.do(putAccount, name, { blockMaxMs, maxConcurrent: random.pick([1, 1, 2, 3, null]) }, { actor })
  if (isFirst) return Promise.all(accountNames.map(put))
  const name = random.pick(accountNames)
  switch (random.weighted({ put: 2, block: 1, unblock: 2 })) {
    case 'put':
      return put(name)
    case 'block':
      return store.do(blockByHand, name, { reason: 'for a test', until: clock.now() + random.between(1, 2_000), actor })
    case 'unblock':
      return store.do(unblockByHand, name, { actor })
  }
}

/** The accounts that a run names, if it names any. */
export function drawAccounts({ random }: World): { readonly account?: readonly string[] } {
  if (!random.chance(0.5)) return {}
  return { account: random.pick([['shared'], ['shared'], ['spare'], ['shared', 'spare'], ['spare', 'shared']]) }
}

/** How a provider refuses, if it does. */
export function drawLimit({ random, clock }: World): RateLimited | undefined {
  if (!random.chance(0.25)) return undefined
  return {
    hasBegun: random.chance(0.5),
    ...(random.chance(0.5) && { resetAt: clock.now() + random.between(-1_000, 5_000) }),
  }
}
