import { z } from 'zod'
import { secretsIn } from '../../core/secret-name.ts'
import type { ConfigSection, EntryWritten } from '../../operations/config-section.ts'
import { newName } from '../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../operations/fields/field-changes.ts'
import { read } from '../../operations/input/read-input.ts'
import { all, both, run } from '../../store/statement.ts'
import { type CorpusSpec, findCorpus } from './corpus-row.ts'
import { hashOf } from './tree/document-file.ts'
import { markRoot, refuseForeignRoot } from './tree/root-mark.ts'
import { corpusFields, noteBadRoot, readCorpus } from './verbs/corpus-input.ts'
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
  /** The id for the mark of its root; absent where the file no longer names the corpus. */
  readonly rootId?: string
}

const form = z.strictObject(corpusFields)

/** Corpora in a config file. A corpus that the file no longer names stays, because its items may live in the store. */
export const corporaSection: ConfigSection<CorpusSpec, CorpusApplied> = {
  name: 'corpora',
  says: 'Corpora by name, each with the fields of corpus create.',
  names: newName,
  reader: async (context) => (name, given, problems) => {
    const { value, problems: found } = read(form, given ?? {}, 'a corpus')
    problems.push(...found)
    const spec = readCorpus({ ...value, name }, context, problems)
    noteBadRoot(spec, problems)
    return spec
  },
  starts(given, where) {
    const { watcher } = (given ?? {}) as { readonly watcher?: unknown }
    return secretsIn(watcher).map((name) => ({
      where: `${where}.watcher`,
      what: `sends the secret ${name} to ${String((watcher as { url?: unknown }).url)}`,
      with: {},
      starts: watcher,
    }))
  },
  placed: (entries) => Object.fromEntries(entries.map((spec) => [spec.name, spec])),
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, spec) {
    const { name, root } = spec
    // The id is derived from name and folder, so that every process that applies the file writes the same mark.
    const rootId = (yield* findCorpus(context, name))?.rootId ?? hashOf(`corpus ${name} ${root}`)
    refuseForeignRoot(spec, rootId)
    const { answer, corpus, before } = yield* putCorpus(context, spec, { actor, mode: 'put', rootId, source })
    yield* run(manage, context.ns, name, source)
    return { name, answer: answer === 'exists' ? 'unchanged' : answer, before, after: corpus.spec, rootId }
  },
  committed(applied) {
    for (const { name, after, rootId } of applied)
      if (after !== null && rootId !== undefined) markRoot({ name, rootId, spec: after })
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
