import { readFileSync } from 'node:fs'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { firstInputs, type Inputs, lastInputs, middleInputs } from '../../../core/corpus/invalidate.ts'
import { canonicalJson } from '../../../store/check.ts'
import { type Corpus, formsOf, targetOfPhase } from '../corpus-row.ts'
import type { ItemFacts } from '../items/item-row.ts'
import { hashOf } from './document-file.ts'

/** Above this many files one fingerprint stands for all of them. */
const filesNamedMax = 2_000

export interface Readable {
  readonly document: ItemDocument
  readonly files: NonNullable<ItemFacts['files']>
  /** Fingerprints of the contents of its children and references, by path. */
  readonly children: Readonly<Record<string, string>>
  readonly references: Readonly<Record<string, string>>
}

/** What each phase would consume now. */
export function currentInputs(corpus: Corpus, item: Readable): Record<string, Inputs> {
  const forms = formsOf(corpus)
  return Object.fromEntries(
    forms.map(({ name }, at) => {
      const whole = inputsOf(corpus, item, name)
      const consumed = new Set<string>([
        ...(at === 0 ? firstInputs : []),
        ...(at > 0 && at < forms.length - 1 ? middleInputs : []),
        ...(at === forms.length - 1 && forms.length > 1 ? lastInputs : []),
        ...(forms.length < 3 && at === 0 ? middleInputs : []),
      ])
      return [name, Object.fromEntries(Object.entries(whole).filter(([input]) => consumed.has(input)))]
    }),
  )
}

function inputsOf(
  corpus: Corpus,
  { document, files, children, references }: Readable,
  phase: string,
): Required<Inputs> {
  const names = Object.keys(files).sort()
  const hashes = Object.fromEntries(names.map((name) => [name, files[name]?.[1] ?? '']))
  return {
    files: structureHash(names).slice(0, 16),
    steer: short(textIn(document._steer)),
    prompt: short(promptIfReadable(corpus, document, phase)),
    target: short(canonicalJson(targetOfPhase(corpus, phase))),
    refs: short(refsOf(document).sort().join('\n')),
    contents: names.length > filesNamedMax ? short(canonicalJson(hashes)) : hashes,
    children,
    references,
  }
}

/** As the original takes it: over the sorted names. */
export function structureHash(names: readonly string[]): string {
  return hashOf([...names].sort().join('\n'))
}

export function contentHashOf(document: ItemDocument): string {
  return document._content === undefined ? '' : short(canonicalJson(document._content))
}

/** The other items that it names, each once and never itself. */
export function refsOf({ _crossRefs: refs }: ItemDocument): string[] {
  if (!Array.isArray(refs)) return []
  return [...new Set(refs.filter((ref): ref is string => typeof ref === 'string' && ref !== ''))]
}

/**
 * The prompt of a phase: the document's own, such as `_architect`, else the file that the corpus names. Only these names are
 * filled in, and only in the prompt: nothing that others wrote is ever read as a template.
 */
export function promptOf({ spec, name }: Corpus, document: ItemDocument, phase: string): string | undefined {
  const own = document[`_${phase}`]
  const isOwn = typeof own === 'string' && own !== '' && !writesField(spec, phase)
  const file = spec.prompts[phase]
  const text = isOwn ? own : file === undefined ? undefined : readFileSync(file, 'utf8')
  const names: Readonly<Record<string, string>> = { corpus: name, phase }
  return text?.replace(/\{\{(\w+)\}\}/g, (whole, word: string) => names[word] ?? whole)
}

/** A file that is gone must not keep the tree from being looked at; the phase that needs it says so. */
function promptIfReadable(corpus: Corpus, document: ItemDocument, phase: string): string {
  try {
    return promptOf(corpus, document, phase) ?? ''
  } catch {
    return 'unreadable'
  }
}

/** `_builder` is the brief that the architect wrote, and no prompt. */
function writesField(spec: Corpus['spec'], phase: string): boolean {
  return formsOf({ spec }).some(({ writes }) => writes.includes(`_${phase}`))
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function short(text: string): string {
  return hashOf(text).slice(0, 16)
}
