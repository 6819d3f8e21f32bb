import { z } from 'zod'
import type { ConfigSection, EntryWritten } from '../../operations/config-section.ts'
import { newName } from '../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../operations/fields/field-changes.ts'
import { read } from '../../operations/input/read-input.ts'
import { all, both, run } from '../../store/statement.ts'
import { type CorpusSpec, findCorpus } from './corpus-row.ts'
import { hashOf } from './tree/document-file.ts'
import { folderProblem, readMark, writeMark } from './tree/root-mark.ts'
import { corpusFields, readCorpus } from './verbs/corpus-input.ts'
import { putCorpus } from './write-corpus.ts'

declare module '../../core/added.ts' {
  interface AddedToConfig {
    readonly corpora: AddedType<readonly EntryWritten[], Record<string, unknown>>
  }
}

const findKept = both(
  'corpora find kept',
  'select name from belfry.corpus where ns = $1 and managed_by = $2 and deleted_at is null order by name',
)
const manage = both(
  'corpora manage',
  'update belfry.corpus set managed_by = $3 where ns = $1 and name = $2 and deleted_at is null',
)

export interface CorpusApplied {
  readonly name: string
  readonly answer: 'created' | 'updated' | 'unchanged' | 'left'
  readonly before: CorpusSpec | null
  readonly after: CorpusSpec | null
}

const form = z.strictObject(corpusFields)

/** Corpora in a config file. One that the file no longer names stays, because its items may live in the store. */
export const corporaSection: ConfigSection<CorpusSpec, CorpusApplied> = {
  name: 'corpora',
  says: 'Corpora by name, each with the fields of corpus create.',
  names: newName,
  reader: async (context) => (name, given, problems) => {
    const { value, problems: found } = read(form, given ?? {}, 'a corpus')
    problems.push(...found)
    return readCorpus({ ...value, name }, context, problems)
  },
  placed: (entries) => Object.fromEntries(entries.map((spec) => [spec.name, spec])),
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, spec) {
    const { name, root } = spec
    // The same name and folder have the same id, so that a dry run leaves nothing that a later one would refuse.
    const rootId = (yield* findCorpus(context, name))?.rootId ?? hashOf(`corpus ${name} ${root}`)
    const { answer, corpus, before } = yield* putCorpus(context, spec, { actor, mode: 'put', rootId, source })
    if (root !== null && folderProblem(root) === null && readMark(root) === null) writeMark(root, { id: rootId, name })
    yield* run(manage, context.ns, name, source)
    return { name, answer: answer === 'exists' ? 'unchanged' : answer, before, after: corpus.spec }
  },
  *leave({ context }, name) {
    yield* run(manage, context.ns, name, null)
    const corpus = yield* findCorpus(context, name)
    return corpus === null ? null : { name, answer: 'left', before: corpus.spec, after: corpus.spec }
  },
  written: ({ name, answer, before, after }) => ({
    name,
    answer,
    changes: answer === 'updated' ? fieldChanges(before ?? {}, after ?? {}) : [],
  }),
  notes: (applied) =>
    applied
      .filter(({ answer }) => answer === 'left')
      .map(
        ({ name }) =>
          `Corpus ${name} is no longer in the file, and stays; delete it with \`belfry corpus delete ${name}\`.`,
      ),
}
