import { z } from 'zod'
import type { AddedField } from '../../../operations/fields/added-fields.ts'
import { name } from '../../../operations/fields/basic-fields.ts'
import { nearest } from '../../../operations/input/nearest-name.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { invalid } from '../../../store/check.ts'
import type { NewRun } from '../../../store/port.ts'
import { all, both, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

declare module '../../../core/added.ts' {
  interface AddedToSchedule {
    readonly account: AddedType<readonly string[], string | readonly string[]>
  }
  interface AddedToRun {
    readonly account: AddedType<readonly string[], string | readonly string[]>
  }
}

const findNames = both(
  'account find names',
  `select name from belfry.account where ns = $1 and name <> '' order by name`,
)

/** The names of accounts are joined by commas in a lane, and begin with a letter or digit as they do at a provider. */
export const accountName = noted(
  name.refine((text) => /^[\p{L}\p{N}][^,\s]*$/u.test(text)),
  { expected: 'a name that begins with a letter or digit, without commas and spaces, such as claude-max' },
)

const accountsMax = 10

/** One name or several; a text may have several too, as a flag has. */
const accountNames = z.preprocess(
  (given) => (typeof given === 'string' ? given.split(',') : given),
  z
    .array(accountName)
    .min(1)
    .max(accountsMax)
    .refine((names) => new Set(names).size === names.length, 'each account once'),
) as unknown as z.ZodType<readonly string[], string | readonly string[]>

export const accountField: AddedField = {
  input: accountNames.describe(
    'The account whose limits it uses, or several in order of preference: the first that is open is used. Default: none.',
  ),
  output: z.array(z.string()).readonly(),
  inWords: (stored: readonly string[]) => stored.join(', else '),
}

/** The names of all accounts. */
export function* knownAccounts({ ns }: StoreContext): Step<string[]> {
  return (yield* all<{ name: string }>(findNames, ns)).map((row) => row.name)
}

type Options = { readonly options?: { readonly account?: unknown } | undefined }

/** Refuses a schedule that names an unknown account. */
export function* checkSchedule(context: StoreContext, spec: object): Step<void> {
  yield* checkNames(context, [{ field: 'account', names: namesIn(spec) }])
}

/** Refuses runs that name an unknown account. */
export function* checkRuns(context: StoreContext, runs: readonly NewRun[]): Step<void> {
  yield* checkNames(
    context,
    runs.map((run, index) => ({ field: `runs[${index}].account`, names: namesIn(run as Options) })),
  )
}

/** Refuses an unknown account that a field names. */
export function* checkAccount(context: StoreContext, field: string, name: string): Step<void> {
  yield* checkNames(context, [{ field, names: [name] }])
}

function namesIn({ options }: Options): readonly string[] {
  return Array.isArray(options?.account) ? options.account : []
}

interface Naming {
  readonly field: string
  readonly names: readonly string[]
}

/** An unknown account is most often misspelt. Nothing is asked where none is named. */
function* checkNames(context: StoreContext, namings: readonly Naming[]): Step<void> {
  if (namings.every(({ names }) => names.length === 0)) return
  const known = yield* knownAccounts(context)
  for (const { field, names } of namings) {
    const unknown = names.find((one) => !known.includes(one))
    if (unknown === undefined) continue
    const meant = nearest(unknown, known)
    const expected =
      meant === undefined ? 'an account of `belfry account list`' : `a known account, such as ${JSON.stringify(meant)}`
    throw invalid(field, `names the account ${JSON.stringify(unknown)}, which does not exist`, expected)
  }
}
