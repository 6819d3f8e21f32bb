import type { Hold } from '../../../core/hold.ts'
import type { HoldReason } from '../../../core/hold-reason.ts'
import type { Actor } from '../../../store/port.ts'

const named = ({ subject }: Hold) =>
  subject.includes(',') ? `Accounts ${subject.replaceAll(',', ', ')} are` : `Account ${subject} is`
const because = ({ note }: Hold) => (note === null ? '' : `: ${note.replace(/[.\s]+$/, '')}`)
const firstOf = ({ subject }: Hold) => subject.split(',')[0] as string

/** The reasons of the holds that this part writes. */
export const reasons = {
  'account-blocked': {
    code: 'account-blocked',
    firing: 'waits',
    says: 'The account is blocked, by its provider’s limit or by a person: runs are made, and wait.',
    unblocks: 'It opens by itself, and one run tries first. To open it sooner: `belfry account unblock NAME`.',
    sentence: (hold) => `${named(hold)} blocked${because(hold)}.`,
    ends: 'It resumes by itself; one run probes first.',
    lift: (hold) => ({ what: 'Or unblock the account.', words: ['account', 'unblock', firstOf(hold)] }),
  },
  'account-full': {
    code: 'account-full',
    firing: 'waits',
    says: 'As many runs use the account as may use it at once.',
    unblocks: 'One of them ends, or `maxConcurrent` of the account is raised.',
    sentence: (hold) => `${named(hold)} full${because(hold)}.`,
    ends: 'It starts when a run that uses the account ends.',
    lift: (hold) => ({
      what: 'Or let more runs use it.',
      words: ['account', 'put', firstOf(hold), '--max-concurrent', 'N'],
    }),
  },
  'namespace-full': {
    code: 'namespace-full',
    firing: 'waits',
    says: 'As many runs of the namespace are at work as may be at once.',
    unblocks: 'One of them ends, or `maxConcurrent` of the namespace is raised.',
    sentence: (hold) => `The namespace is full${because(hold)}.`,
    ends: 'It starts when a run of the namespace ends.',
    lift: () => ({
      what: 'Or let more of its runs work at once.',
      words: ['namespace', 'set', 'NAME', '--max-concurrent', 'N'],
    }),
  },
} as const satisfies Readonly<Record<string, HoldReason>>

/** The author of holds that reservations and limits cause. */
export const belfry: Actor = { name: 'belfry', door: 'worker' }
