import type { Begin } from '../../../engine/part.ts'
import type { Part } from '../../../part.ts'
import type { HostStart } from '../../../store/part.ts'
import type { Lease } from '../../../store/port.ts'
import { accounts as tables } from './0021-accounts.ts'
import { accountEnds } from './account-ends.ts'
import { accountField, checkRuns, checkSchedule, knownAccounts } from './account-field.ts'
import { explainAccount } from './account-used.ts'
import { accountOperations } from './account-verbs.ts'
import { accountsSection } from './accounts-section.ts'
import { reasons } from './reasons.ts'
import { repairDuty, sweepUse } from './repair-accounts.ts'
import { type Reservation, type Reserved, reserve } from './reserve-account.ts'
import { setupCheck } from './setup-check.ts'

function isConcerned({ isReserving, options }: Lease): boolean {
  return isReserving === true || options.account !== undefined
}

function reservationOf({ runId, fence, options, isReserving }: Lease): Reservation {
  const accounts = (options.account as readonly string[] | undefined) ?? []
  return { runId, fence, accounts, isReserving: isReserving === true }
}

function beginOf(reserved: Reserved): Begin & HostStart {
  switch (reserved.answer) {
    case 'reserved':
      return { go: true, isWatched: true, account: reserved.account }
    case 'refused':
      return { defer: { until: reserved.until, reason: reserved.reason } }
    case 'unknown-account':
      return { fail: `account ${reserved.account} does not exist` }
    case 'lease-lost':
      return { fail: 'its lease was lost before it began' }
  }
}

/** Accounts: whose limits at a provider runs share, and how many may be at work at once over all queues. */
export const accounts = {
  name: 'accounts',
  migrations: [tables],
  fields: { schedule: { account: accountField }, run: { account: accountField } },
  written: checkSchedule,
  enqueues: checkRuns,
  concerns: isConcerned,
  begins: async (lease, { store }) => beginOf(await store.do(reserve, reservationOf(lease))),
  *reserves(context, lease) {
    if (!isConcerned(lease)) return { go: true }
    return beginOf(yield* reserve(context, reservationOf(lease)))
  },
  ended: accountEnds,
  heldDeferrals: ['account-blocked', 'account-full', 'namespace-full', 'rate-limited'],
  duties: [repairDuty],
  sweeps: [sweepUse],
  holdReasons: reasons,
  explainsRun: explainAccount,
  subjects: { account: ({ store }) => store.look(knownAccounts) },
  config: [accountsSection],
  checks: [setupCheck],
  nouns: {
    account: {
      says: 'Accounts at providers: ceilings over all queues, blocks by their limits, headroom.',
      plural: 'accounts',
      operations: accountOperations,
      otherWords: {
        accounts: 'account list',
        'account ls': 'list',
        'account set': 'put',
        'account create': 'put',
        'account add': 'put',
        'account rm': 'delete',
        'account remove': 'delete',
        'account open': 'unblock',
      },
    },
  },
} as const satisfies Part
