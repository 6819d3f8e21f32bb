import { z } from 'zod'
import type { AccountSpec } from '../../../core/account.ts'
import {
  type ChangedEntry,
  type ConfigSection,
  type EntryWritten,
  writtenBy,
} from '../../../operations/config-section.ts'
import { read } from '../../../operations/input/read-input.ts'
import { all, both } from '../../../store/statement.ts'
import { boundsOf } from './account-answer.ts'
import { accountName } from './account-field.ts'
import { accountInUse, boundsInput, readBounds } from './account-verbs.ts'
import { type AccountPatch, deleteAccount, putAccount } from './write-account.ts'

declare module '../../../core/added.ts' {
  interface AddedToConfig {
    readonly accounts: AddedType<readonly EntryWritten[], Record<string, unknown>>
  }
}

const findKept = both(
  'account find kept',
  'select name from belfry.account where ns = $1 and managed_by = $2 order by name',
)

export interface AccountEntry {
  readonly name: string
  readonly bounds: AccountPatch
}

const form = z.strictObject(boundsInput)

/** Accounts in a config file. */
export const accountsSection: ConfigSection<AccountEntry, ChangedEntry<AccountSpec>> = {
  name: 'accounts',
  says: 'Accounts by name, each with the fields of account put.',
  names: accountName,
  deletes: true,
  reader: async () => (name, given, problems) => {
    const { value, problems: found } = read(form, given ?? {}, 'an account')
    problems.push(...found)
    return { name, bounds: readBounds(value, problems) }
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, { name, bounds }) {
    return { name, ...(yield* putAccount(context, name, bounds, { actor, source, isWhole: true })) }
  },
  *leave({ context, source, actor }, name) {
    const gone = yield* deleteAccount(context, name, { actor, source })
    if (gone.answer === 'in-use') throw accountInUse(name, gone.by)
    return gone.answer === 'not-found' ? null : { name, answer: 'deleted', before: null, after: null }
  },
  written: writtenBy(boundsOf),
}
