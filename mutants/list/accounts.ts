import type { Mutant } from '../mutant.ts'

const slots = 'test/parts/admission/accounts/reserve.test.ts'
const rules = 'test/core/account.test.ts'
const provider = 'test/parts/admission/accounts/provider.test.ts'
const verbs = 'test/parts/admission/accounts/operations.test.ts'

/** Accounts that are used although they are closed, by too many, or by nobody any more. */
export const accounts: readonly Mutant[] = [
  {
    id: 'blocked-account-starts-a-run',
    hazard: 'A run starts although the account that it needs is blocked.',
    edits: [['reserve-account.ts chosen', 'closingHold(accounts, name) === undefined', 'name !== wholeNamespace']],
    suites: [slots],
  },
  {
    id: 'limit-blocks-nothing',
    hazard: 'A provider refuses by its limit, and is asked again and again.',
    edits: [['learn', 'rateLimited === undefined', 'rateLimited !== undefined']],
    suites: [slots],
  },
  {
    id: 'two-probes',
    hazard: 'When a blocked account opens, two runs try it at once.',
    edits: [['afterBlock', 'width: 1', 'width: 2']],
    suites: [rules, slots],
  },
  {
    id: 'probe-of-before-the-block',
    hazard: 'A run that began before the limit was met opens the account for all.',
    edits: [['afterSuccess', 'begunAfter !== standing.blocks', 'begunAfter > standing.blocks']],
    suites: [rules],
  },
  {
    id: 'lost-lease-keeps-its-slot',
    hazard: 'The slot of a worker that died is reserved for ever.',
    edits: [['accountEnds', "isWatched === true || outcome === 'lost'", 'isWatched === true']],
    suites: [slots],
  },
  {
    id: 'slot-for-a-lease-that-is-over',
    hazard: 'A slot is reserved after the end that should have freed it.',
    edits: [
      ['reserve-account.ts reserve', '(yield* rowsOf(locking)).length === 0', '(yield* rowsOf(locking)).length < 0'],
    ],
    suites: [slots],
  },
  {
    id: 'account-ceiling-passed-by-one',
    hazard: 'One run more than may be uses an account.',
    edits: [
      [
        'reserve-account.ts chosen',
        'filter((account) => roomIn(account) > 0)',
        'filter((account) => roomIn(account) >= 0)',
      ],
    ],
    suites: [slots],
  },
  {
    id: 'namespace-ceiling-is-not-asked',
    hazard: 'A namespace starts more runs than it may.',
    edits: [['lease-row.ts leaseOf', 'isOf(reserving.slots)', 'false']],
    suites: [slots],
  },
  {
    id: 'end-before-the-start-keeps-its-slot',
    hazard: 'A worker that is told to stop after it reserved a slot leaves it reserved.',
    edits: [['src/engine/worker.ts Worker.#ended', 'holding.isWatched && end.isWatched !== true', 'holding.isLost']],
    suites: ['test/parts/admission/accounts/stopped.test.ts'],
  },
  {
    id: 'reset-of-2099-blocks',
    hazard: 'A mistake of a provider blocks an account for as long as it may be blocked.',
    edits: [['usableReset', 'resetAt <= now + resetMsMax', 'resetAt > now']],
    suites: [rules],
  },
  {
    id: 'full-account-fails-its-runs',
    hazard: 'Runs that wait for a blocked account fail after a day.',
    edits: [
      [
        'accounts/part.ts accounts',
        "heldDeferrals: ['account-blocked', 'account-full', 'namespace-full', 'rate-limited'],",
        'heldDeferrals: [],',
      ],
    ],
    suites: [slots],
  },
  {
    id: 'headroom-for-everybody',
    hazard: 'Unimportant runs use up what is left of a limit.',
    edits: [['headroomUntil', 'priority <= headroom.priority', 'priority >= headroom.priority']],
    suites: [rules],
  },
  {
    id: 'agent-unblocks-an-account',
    hazard: 'An agent opens the account that a limit or a person has closed.',
    edits: [['account-verbs.ts changing', ', persons: true', '']],
    suites: [verbs],
  },
  {
    id: 'block-of-nine-days',
    hazard: 'A slip of the finger blocks an account for days.',
    edits: [['blockByHand', 'until > latest', 'until > latest + 8 * blockMaxMs * 24']],
    suites: [verbs],
  },
  {
    id: 'words-block-an-account',
    hazard: 'What a model writes in its answer closes the account for all.',
    edits: [['limitOf', 'if (given === true) return {}', 'if (given !== null) return {}']],
    suites: [provider],
  },
  {
    id: 'agent-takes-the-account',
    hazard: 'A model takes the account from a schedule, so that a blocked account no longer keeps its runs.',
    edits: [['refuseLoosening', 'is.length === 0 || is.some(', 'is.length < 0 && is.some(']],
    suites: [verbs],
  },
]
