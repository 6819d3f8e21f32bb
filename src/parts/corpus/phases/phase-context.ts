import { join } from 'node:path'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import { isRecord } from '../../../core/json/record.ts'
import { fence } from '../../../core/untrusted-text.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { type Corpus, formsOf } from '../corpus-row.ts'
import { findItems, type Item } from '../items/item-row.ts'
import { childPaths } from '../items/list-items.ts'
import { parsed, readDocument } from '../tree/document-file.ts'
import { promptOf, refsOf } from '../tree/fingerprints.ts'
import { sourceHash } from '../tree/see-item.ts'

/**
 * The input of a phase: one JSON document. Every text that a model, another item or a file wrote is inside a fence. Steer and prompt come
 * from the owner and are not fenced. Names are not changed, because programs open files by them.
 */
export interface PhaseDocument {
  readonly corpus: string
  readonly item: string
  readonly phase: string
  /** The folder of the item's files; absent if the item has none. */
  readonly folder?: string
  readonly prompt?: string
  readonly steer?: string
  /** The plan that the previous phase wrote. */
  readonly brief?: string
  readonly scope: { readonly files: readonly string[]; readonly count: number }
  /** The files that differ from those that the last build read; all files if there was no build. */
  readonly delta: { readonly files: readonly string[]; readonly count: number; readonly since?: string }
  readonly sources?: Readonly<Record<string, string>>
  readonly content?: string
  readonly state?: string
  readonly feedback?: string
  /** The texts that the phases of a custom list wrote, by field. */
  readonly written?: Readonly<Record<string, string>>
  readonly children: Readonly<Record<string, string | null>>
  readonly references: Readonly<Record<string, string | null>>
  /** What the answer may contain. */
  readonly answer: { readonly writes: readonly string[]; readonly isJson: boolean }
}

const namesMax = 500

export interface PhaseSubject {
  readonly corpus: Corpus
  readonly item: Item
  readonly document: ItemDocument
  readonly form: PhaseForm
}

export async function phaseDocument(store: KindStore, subject: PhaseSubject): Promise<PhaseDocument> {
  const { corpus, item, document, form } = subject
  const { root } = corpus.spec
  const files = Object.keys(item.facts.files ?? item.facts.sources ?? {}).sort()
  const delta = deltaOf(item, files)
  const children = await store.look(childPaths, corpus.id, item.path)
  const [ofChildren, ofRefs] = [
    await contentsOf(store, corpus, children),
    await contentsOf(
      store,
      corpus,
      refsOf(corpus, document).filter((path) => path !== item.path),
    ),
  ]
  const prompt = promptOf(corpus, document, form.name)
  return {
    corpus: corpus.name,
    item: item.path,
    phase: form.name,
    ...(root !== null && { folder: join(root, item.path) }),
    ...(prompt !== undefined && { prompt }),
    ...(typeof document._steer === 'string' && document._steer !== '' && { steer: document._steer }),
    ...fencedField('brief', document._builder),
    scope: { files: files.slice(0, namesMax), count: files.length },
    delta,
    ...(item.facts.sources !== undefined && { sources: fencedAll(item.facts.sources) }),
    ...fencedField('content', document._content),
    ...fencedField('state', document._state),
    ...fencedField('feedback', document._feedback),
    ...writtenBy(corpus, document),
    children: ofChildren,
    references: ofRefs,
    answer: { writes: form.writes, isJson: form.writes.length > 1 },
  }
}

function deltaOf({ facts: { consumed = {}, files, sources } }: Item, names: readonly string[]): PhaseDocument['delta'] {
  const builder = Object.values(consumed).find(({ contents }) => contents !== undefined)
  const read = builder?.contents
  if (!isRecord(read)) return { files: names.slice(0, namesMax), count: names.length }
  const hashNow = (name: string) => (sources === undefined ? files?.[name]?.[1] : sourceHash(sources[name] ?? ''))
  const differing = names.filter((name) => hashNow(name) !== read[name])
  const { at } = builder as { at?: string }
  return { files: differing.slice(0, namesMax), count: differing.length, ...(at !== undefined && { since: at }) }
}

async function contentsOf(
  store: KindStore,
  corpus: Corpus,
  paths: readonly string[],
): Promise<Record<string, string | null>> {
  const { root } = corpus.spec
  // Only items of the index: a path of another name may lead out of the root by a link.
  const rows = await store.look(itemsNamed, corpus.id, paths)
  return Object.fromEntries(
    paths.map((path) => {
      const row = rows.get(path)
      const read = row === undefined ? null : root === null ? parsed(row.document ?? '') : readDocument(root, path)
      const content = read !== null && 'document' in read ? read.document._content : undefined
      return [path, content === undefined ? null : fence(asText(content))]
    }),
  )
}

function* itemsNamed(_: unknown, corpusId: number, paths: readonly string[]) {
  return yield* findItems(corpusId, paths)
}

function fencedAll(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fence(text)]))
}

function fencedField(name: 'brief' | 'content' | 'state' | 'feedback', value: unknown): Record<string, string> {
  return value === undefined || value === '' ? {} : { [name]: fence(asText(value)) }
}

const namedFields: readonly string[] = ['_builder', '_content', '_state', '_feedback']

function writtenBy(corpus: Corpus, document: ItemDocument): Pick<PhaseDocument, 'written'> {
  const names = formsOf(corpus).flatMap(({ writes }) => writes)
  const own = names.filter((name) => !namedFields.includes(name) && document[name] !== undefined)
  return own.length === 0
    ? {}
    : { written: fencedAll(Object.fromEntries(own.map((name) => [name, asText(document[name])]))) }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
