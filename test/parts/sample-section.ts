import { z } from 'zod'
import type { ConfigSection } from '../../src/operations/config-section.ts'
import { name } from '../../src/operations/fields/basic-fields.ts'
import { fieldChanges } from '../../src/operations/fields/field-changes.ts'
import { all, both, one, run } from '../../src/store/statement.ts'

declare module '../../src/core/added.ts' {
  interface AddedToConfig {
    readonly memos: AddedType<readonly { readonly name: string; readonly answer: string }[], Record<string, unknown>>
  }
}

const findKept = both('sample kept memos', 'select name from belfry.memo where source = $1 order by name')
const findMemo = both('sample memo', 'select text from belfry.memo where name = $1')
const saveMemo = both(
  'sample save memo',
  `insert into belfry.memo (name, text, source) values ($1, $2, $3)
    on conflict (name) do update set text = excluded.text`,
)
const removeMemo = both('sample remove memo', 'delete from belfry.memo where name = $1 returning text')

interface Memo {
  readonly name: string
  readonly text: string
}

interface MemoApplied extends Memo {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'deleted'
  readonly was: string | null
}

/** Memos: a section of a config file that the sample brings. */
export const memos: ConfigSection<Memo, MemoApplied> = {
  name: 'memos',
  says: 'Memos by their names.',
  names: name,
  deletes: true,
  reader: async () => (named, given, problems) => {
    const read = z.strictObject({ text: z.string(), program: z.string().optional() }).safeParse(given)
    if (!read.success) problems.push({ field: 'text', problem: 'is missing', expected: 'a text' })
    return { name: named, text: read.data?.text ?? '' }
  },
  starts: (given, where) => {
    const { program } = (given ?? {}) as { readonly program?: string }
    return program === undefined ? [] : [{ where, what: program, with: {}, starts: { program } }]
  },
  *kept(_, source) {
    return (yield* all<{ name: string }>(findKept, source)).map(({ name: kept }) => kept)
  },
  *apply({ source }, { name: named, text }) {
    const was = (yield* one<{ text: string }>(findMemo, named))?.text ?? null
    yield* run(saveMemo, named, text, source)
    return { name: named, text, was, answer: was === null ? 'created' : was === text ? 'unchanged' : 'updated' }
  },
  *leave(_, named) {
    const gone = yield* one<{ text: string }>(removeMemo, named)
    return gone === undefined ? null : { name: named, text: '', was: gone.text, answer: 'deleted' }
  },
  written: ({ name: named, text, was, answer }) => ({
    name: named,
    answer,
    changes: answer === 'updated' ? fieldChanges({ text: was }, { text }) : [],
  }),
  notes: (applied) => applied.filter(({ answer }) => answer === 'deleted').map(({ was }) => `Forgotten: ${was}`),
}
