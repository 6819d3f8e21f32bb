import { join } from 'node:path'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import { isRecord } from '../../../core/json/record.ts'
import { fence } from '../../../core/untrusted-text.ts'
import type { KindStore } from '../../../targets/kind.ts'
import type { Corpus } from '../corpus-row.ts'
import { findItems, type Item } from '../items/item-row.ts'
import { childPaths } from '../items/list-items.ts'
import { parsed, readDocument } from '../tree/document-file.ts'
import { promptOf, refsOf } from '../tree/fingerprints.ts'

/** What a phase is handed: one JSON document. What models or others wrote stands inside a fence. */
export interface PhaseDocument {
  readonly corpus: string
  readonly item: string
  readonly phase: string
  /** The folder of its files; absent where it has none. */
  readonly folder?: string
  readonly prompt?: string
  readonly steer?: string
  /** What the phase before planned. */
  readonly brief?: string
  readonly scope: { readonly files: readonly string[]; readonly count: number }
  /** The files that differ from what the last build read; all of them before the first. */
  readonly delta: { readonly files: readonly string[]; readonly count: number; readonly since?: string }
  readonly sources?: Readonly<Record<string, string>>
  readonly content?: string
  readonly state?: unknown
  readonly feedback?: string
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
    await contentsOf(store, corpus, refsOf(document)),
  ]
  const prompt = promptOf(corpus, document, form.name)
  return {
    corpus: corpus.name,
    item: item.path,
    phase: form.name,
    ...(root !== null && { folder: join(root, item.path) }),
    ...(prompt !== undefined && { prompt }),
    ...textField('steer', document._steer),
    ...textField('brief', document._builder),
    scope: { files: files.slice(0, namesMax), count: files.length },
    delta,
    ...(item.facts.sources !== undefined && { sources: fencedAll(item.facts.sources) }),
    ...(document._content !== undefined && { content: fence(asText(document._content)) }),
    ...(document._state !== undefined && { state: document._state }),
    ...(document._feedback !== undefined && { feedback: fence(asText(document._feedback)) }),
    children: ofChildren,
    references: ofRefs,
    answer: { writes: form.writes, isJson: form.writes.length > 1 },
  }
}

function deltaOf({ facts: { consumed = {}, files, sources } }: Item, names: readonly string[]): PhaseDocument['delta'] {
  const builder = Object.values(consumed).find(({ contents }) => contents !== undefined)
  const read = builder?.contents
  if (!isRecord(read)) return { files: names.slice(0, namesMax), count: names.length }
  const differing = names.filter((name) => sources === undefined && files?.[name]?.[1] !== read[name])
  const { at } = builder as { at?: string }
  return { files: differing.slice(0, namesMax), count: differing.length, ...(at !== undefined && { since: at }) }
}

async function contentsOf(
  store: KindStore,
  corpus: Corpus,
  paths: readonly string[],
): Promise<Record<string, string | null>> {
  const { root } = corpus.spec
  const rows = root === null ? await store.look(itemsNamed, corpus.id, paths) : new Map<string, Item>()
  return Object.fromEntries(
    paths.map((path) => {
      const read = root === null ? parsed(rows.get(path)?.document ?? '') : readDocument(root, path)
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

function textField(name: 'steer' | 'brief', value: unknown): Record<string, string> {
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
