import { z } from 'zod'
import { formatDuration } from '../../../core/duration.ts'
import { BelfryError } from '../../../core/error.ts'
import { priority, reason } from '../../../operations/fields/basic-fields.ts'
import { patched } from '../../../operations/fields/patch.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import { instant, isoText, over } from '../../../operations/input/instant.ts'
import { type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { absent } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { freedName } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { deleted } from '../../../operations/show.ts'
import { awaitLeases } from '../../../store/holds/await-leases.ts'
import { clockNow } from '../../../store/statement.ts'
import {
  type Account,
  accountAnswer,
  accountSchema,
  accountShown,
  accountsShown,
  putSchema,
  showPut,
} from './account-answer.ts'
import { accountName } from './account-field.ts'
import { type Accounts, accountsNow, wholeNamespace } from './account-row.ts'
import { type AccountPatch, blockByHand, deleteAccount, putAndRead, unblockByHand } from './write-account.ts'

/** A model can neither raise a limit nor open what is blocked. */
const people: Doors = {
  ...everyDoor,
  mcp: 'Only a person bounds, blocks or opens an account; a model reads them, and asks.',
}
const changing = { noun: 'account', effect: 'write', doors: people, persons: true } as const
const named = accountName.describe('The name of the account.')

const ceilingMax = 1_000_000
export const blockMaxMs = { min: 60_000, max: 8 * 86_400_000 }

/** The bounds of an account, as verbs and config files give them. */
export const boundsInput = {
  maxConcurrent: z
    .int()
    .min(1)
    .max(ceilingMax)
    .describe('How many runs may use it at once, over all queues. Default: no ceiling.')
    .optional(),
  ...durationFields('blockMax', 'The longest block: 1m to 8d. Default: 6h.'),
  headroom: z
    .strictObject({
      at: z.number().gt(0).lte(1).describe('A share of a limit from 0 to 1, such as 0.8.'),
      priority: priority.describe('The highest priority number that may still start.'),
    })
    .describe('Above this share of a limit only runs of this priority number or a lower one start.')
    .optional(),
  currency: noted(z.string().regex(/^[A-Z]{3}$/), { expected: 'three capital letters, such as USD' })
    .describe('The currency of its money.')
    .optional(),
}

/** What is given as it is stored; what is wrong with it goes to `problems`. */
export function readBounds(value: object, problems: Problem[]): AccountPatch {
  const given = value as Record<string, never>
  const longest = durationOf<number | null>(given, 'blockMax', problems)
  if (typeof longest === 'number' && (longest < blockMaxMs.min || longest > blockMaxMs.max)) {
    problems.push({ field: 'blockMax', problem: `is ${formatDuration(longest)}`, expected: 'a duration of 1m to 8d' })
  }
  const { maxConcurrent, headroom, currency } = given
  const patch = { maxConcurrent, headroom, currency, blockMaxMs: longest }
  return Object.fromEntries(Object.entries(patch).filter(([, one]) => one !== undefined)) as AccountPatch
}

export const put = operation({
  ...changing,
  verb: 'put',
  method: 'PUT',
  idempotent: true,
  begins: true,
  scope: 'admin',
  rehearses: true,
  says: 'Create an account or change its bounds; a field that is not given stays.',
  request: 'an account',
  input: z.strictObject({ name: named, ...patched(boundsInput) }),
  takes: ['name'],
  output: putSchema,
  show: showPut,
  errors: ['invalid', 'conflict'],
  examples: [
    { name: 'claude-max', maxConcurrent: 3, headroom: { at: 0.8, priority: 50 } },
    { name: 'claude-max', maxConcurrent: null, blockMax: '1h', currency: 'USD' },
  ],
  async judge(context, { value, problems: found }) {
    const problems = [...found]
    const { name, ...rest } = value
    const patch = readBounds(rest, problems)
    refuse('The account', problems)
    const { store, actor } = context
    const { answer, accounts, account } = await store.do(putAndRead, name as string, patch, { actor })
    return { answer, account: accountAnswer(accounts, account) }
  },
})

export const list = operation({
  noun: 'account',
  verb: 'list',
  method: 'GET',
  says: 'List accounts with their state and how many runs use them.',
  request: 'a list of accounts',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({}),
  takes: [],
  output: z.array(accountSchema),
  show: accountsShown,
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}],
  run: async ({ store }) => answersOf(await store.look(accountsNow)),
})

export const get = operation({
  noun: 'account',
  verb: 'get',
  command: ['account', 'show'],
  method: 'GET',
  says: 'Show an account: its bounds, its state, and how much of its limits is used.',
  request: 'a request for an account',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({ name: named }),
  takes: ['name'],
  output: accountSchema,
  show: accountShown,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  examples: [{ name: 'claude-max' }],
  run: (context, { name }) => present(context, name),
})

export const block = operation({
  ...changing,
  verb: 'block',
  scope: 'operate',
  says: 'Block an account: no run that needs it starts until the block ends; runs that use it finish.',
  request: 'a block of an account',
  input: z.strictObject({
    name: named,
    reason: reason.describe('Why, for everyone who asks what work waits for.'),
    until: instant.describe('When the block ends. Default: the longest block of the account.').optional(),
    ...durationFields('for', 'How long the block lasts, in place of until.'),
  }),
  takes: ['name'],
  output: accountSchema,
  show: accountShown,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'claude-max', reason: 'The invoice is being paid.', for: '2h' }],
  async judge(context, { given, value, problems: found }) {
    const { store, actor } = context
    const problems = [...found]
    const until = untilOf(given, value, await store.look(clockNow), problems)
    refuse('The block', problems)
    const { name, reason: note } = value as { name: string; reason: string }
    const answer = await store.do(blockByHand, name, { until, reason: note, actor })
    if (answer.answer === 'not-found') return absentAccount(context, name)
    if (answer.answer === 'too-long') {
      const { latest, blockMaxMs: longestMs } = answer
      const expected = `at most ${isoText(latest)}: account ${name} is blocked for ${formatDuration(longestMs)} at the longest`
      refuse('The block', [
        {
          field: given.until === undefined ? 'for' : 'until',
          problem: `ends at ${isoText(until as number)}`,
          expected,
        },
      ])
    }
    // When it returns, no lease is under way that has not seen the block.
    await store.do(awaitLeases)
    return present(context, name)
  },
})

function untilOf(
  given: object,
  value: { until?: number | undefined },
  now: number,
  problems: Problem[],
): number | undefined {
  const forMs = durationOf(value, 'for', problems)
  if ('until' in given && forMs !== undefined) {
    problems.push({ field: 'until', problem: 'is given beside `for`', expected: 'only one of the two' })
  }
  if (forMs !== undefined && forMs < 1)
    problems.push({ field: 'for', problem: `is ${forMs} ms`, expected: 'a duration of 1ms on' })
  if (value.until !== undefined && value.until <= now) problems.push(over('until', value.until, now))
  return forMs === undefined ? value.until : now + forMs
}

export const unblock = operation({
  ...changing,
  verb: 'unblock',
  scope: 'operate',
  says: 'Lift the block of an account: one run probes, and more follow when it succeeds.',
  request: 'an unblocking of an account',
  input: z.strictObject({ name: named }),
  takes: ['name'],
  output: accountSchema,
  show: accountShown,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'claude-max' }],
  async run(context, { name }) {
    const answer = await context.store.do(unblockByHand, name, { actor: context.actor })
    if (answer === 'not-found') return absentAccount(context, name)
    if (answer === 'unblocked') return present(context, name)
    throw new BelfryError('conflict', `Account ${quoted(name)} is not blocked.`, {
      hint: `See its state: \`belfry account show ${name}\`.`,
      details: { account: name },
    })
  },
})

export const remove = operation({
  ...changing,
  verb: 'delete',
  method: 'DELETE',
  effect: 'destructive',
  scope: 'admin',
  idempotent: true,
  asksFirst: true,
  rehearses: true,
  says: 'Delete an account that no schedule and no waiting run names.',
  request: 'a deletion of an account',
  input: z.strictObject({ name: named }),
  takes: ['name'],
  output: freedName,
  show: ({ name }, sheet) => deleted(`account ${plainText(name)}`, sheet),
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'claude-max' }],
  async run(context, { name }) {
    const answer = await context.store.do(deleteAccount, name, { actor: context.actor })
    if (answer.answer === 'not-found') return absentAccount(context, name)
    if (answer.answer === 'in-use') throw accountInUse(name, answer.by)
    return { name, deleted: true as const }
  },
})

export function accountInUse(name: string, by: readonly string[]): BelfryError {
  return new BelfryError('conflict', `Account ${quoted(name)} is in use: ${by.join(', ')}.`, {
    hint: 'Change what names it first; an account is also closed by `belfry account block`.',
    details: { account: name, by },
  })
}

function answersOf(accounts: Accounts): Account[] {
  const rows = [...accounts.byName.values()].filter(({ name }) => name !== wholeNamespace)
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1)).map((account) => accountAnswer(accounts, account))
}

async function present(context: OperationContext, name: string): Promise<Account> {
  const accounts = await context.store.look(accountsNow)
  const found = accounts.byName.get(name)
  return found === undefined ? absentAccount(context, name) : accountAnswer(accounts, found)
}

async function absentAccount({ store }: OperationContext, name: string): Promise<never> {
  const known = answersOf(await store.look(accountsNow)).map((account) => account.name)
  throw absent('account', name, known, 'List accounts with `belfry account list`.')
}

export const accountOperations = { put, list, get, block, unblock, delete: remove }
