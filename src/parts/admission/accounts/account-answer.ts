import { z } from 'zod'
import { type AccountSpec, allowedBy } from '../../../core/account.ts'
import { reasonText } from '../../../core/reason-text.ts'
import { on } from '../../../operations/explain/show-explained.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { type AnswerOf, count, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { type Column, indented, type Listing, type Sheet, written } from '../../../operations/show.ts'
import { blockOf } from './account-ends.ts'
import { type Account as AccountNow, type Accounts, closingHold, roomIn } from './account-row.ts'

export const bounds = {
  maxConcurrent: count('How many runs may use it at once, over all queues; null: no ceiling.').nullable(),
  blockMaxMs: count('The longest block, in ms.'),
  headroom: z
    .strictObject({
      at: z.number().describe('The share of a limit, such as 0.8.'),
      priority: count('The highest priority number that may start above it.'),
    })
    .nullable()
    .describe('Above this share of a limit only important runs start.'),
  currency: text('The currency of its money, such as USD.').nullable(),
}

export const accountSchema = noted(
  z
    .strictObject({
      name: text('The name of the account.'),
      ...bounds,
      state: z
        .enum(['open', 'blocked', 'probing', 'full'])
        .describe('Whether runs may use it: probing means that few may, because it was blocked until just now.'),
      atWork: count('How many runs use it.'),
      allowed: count('How many may use it at once now; null: any number.').nullable(),
      blockedUntil: instantOutput('When its block ends by itself.').nullable(),
      why: text('Why it is blocked.').nullable(),
      utilisation: z
        .array(
          z.strictObject({
            window: text('The name of the limit.'),
            share: z.number().describe('How much of it is used: 0.83 is 83 %.'),
            resetAt: instantOutput('When the limit resets.'),
          }),
        )
        .readonly()
        .describe('How much of its limits is used, as runs reported it.'),
      setupFailed: z
        .strictObject({
          reason: text('What the agent reported.'),
          run: text('The run that ended so.'),
          at: instantOutput('When it ended.'),
        })
        .nullable()
        .describe('The last failure of login or configuration, until a run succeeds on it. It blocks nothing.'),
      managedBy: text('The source of the config file that manages it.').nullable(),
    })
    .describe('An account at a provider, whose limits runs share.'),
  { id: 'Account' },
)

export type Account = AnswerOf<typeof accountSchema>

export function boundsOf({ maxConcurrent = undefined, blockMaxMs, headroom, currency }: AccountSpec) {
  return { maxConcurrent: maxConcurrent ?? null, blockMaxMs, headroom: headroom ?? null, currency: currency ?? null }
}

export function accountAnswer(accounts: Accounts, account: AccountNow): Account {
  const { name, spec, standing, used, managedBy } = account
  const hold = blockOf(accounts, name) ?? closingHold(accounts, name)
  const allowed = allowedBy(spec, standing)
  const stateNow = standing.width === null ? 'open' : 'probing'
  return {
    name,
    ...boundsOf(spec),
    state: hold !== undefined ? 'blocked' : standing.width === null && roomIn(account) <= 0 ? 'full' : stateNow,
    atWork: used,
    allowed: Number.isFinite(allowed) ? allowed : null,
    blockedUntil: hold?.until ?? null,
    why: hold?.note ?? hold?.reason ?? null,
    utilisation: standing.windows.filter(({ resetAt }) => resetAt > accounts.now),
    setupFailed: standing.setup ?? null,
    managedBy,
  }
}

type Setup = NonNullable<Account['setupFailed']>

export function setupWords({ reason, run }: Setup): string {
  return `${reason}, reported by run ${run}`
}

function stateWords({ state, atWork, allowed, blockedUntil }: Account, sheet: Sheet): string {
  const { paint } = sheet
  switch (state) {
    case 'blocked':
      return paint.red(blockedUntil === null ? 'blocked' : `blocked until ${on(blockedUntil, sheet)}`)
    case 'probing':
      return paint.yellow(`probing, ${atWork} of ${allowed}`)
    case 'full':
      return paint.yellow(`full, ${atWork} of ${allowed}`)
    case 'open':
      return paint.green('open')
  }
}

function utilisationWords({ utilisation }: Account): string | null {
  const words = utilisation.map(({ window, share }) => `${window} ${Math.round(share * 100)} %`)
  return words.length === 0 ? null : plainText(words.join(', '))
}

function whyWords({ why, setupFailed }: Account): string | null {
  const says = why ?? (setupFailed === null ? null : setupWords(setupFailed))
  return says === null ? null : reasonText(says, 60)
}

const facts: readonly Column<Account>[] = [
  ['state', stateWords],
  ['why', 'why', 'text'],
  ['setup', ({ setupFailed }, { paint }) => setupFailed && paint.red(plainText(setupWords(setupFailed)))],
  ['at-work', ({ atWork, maxConcurrent }) => (maxConcurrent === null ? `${atWork}` : `${atWork} of ${maxConcurrent}`)],
  ['utilisation', utilisationWords],
  [
    'headroom',
    ({ headroom }) =>
      headroom && `above ${Math.round(headroom.at * 100)} % only priority ${headroom.priority} or lower`,
  ],
  ['block-max', 'blockMaxMs', 'duration'],
  ['currency', 'currency', 'text'],
  ['managed-by', 'managedBy', 'text'],
]

export const accountShown = { head: ({ name }: Account, { paint }: Sheet) => paint.bold(plainText(name)), facts }

export const accountsShown: Listing<readonly Account[], Account> = {
  none: 'No accounts.',
  columns: [
    ['ACCOUNT', 'name', 'name'],
    ['STATE', stateWords],
    ['AT WORK', 'atWork', 'count'],
    ['CEILING', ({ maxConcurrent }) => (maxConcurrent === null ? 'none' : String(maxConcurrent))],
    ['UTILISATION', utilisationWords],
    ['WHY', whyWords],
  ],
}

export const putSchema = z.strictObject({
  answer: z.enum(['created', 'updated', 'unchanged']).describe('The result of the write.'),
  account: accountSchema,
})

export function showPut({ answer, account }: AnswerOf<typeof putSchema>, sheet: Sheet): string {
  return `${written(answer, sheet)} account ${plainText(account.name)}\n${indented(sheet.facts(facts, account))}`
}
