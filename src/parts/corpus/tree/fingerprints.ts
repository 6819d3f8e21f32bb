import { readFileSync } from 'node:fs'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { firstInputs, type Inputs, lastInputs, middleInputs } from '../../../core/corpus/invalidate.ts'
import { BelfryError } from '../../../core/error.ts'
import { canonicalJson } from '../../../store/check.ts'
import { type Corpus, formsOf, targetOfPhase } from '../corpus-row.ts'
import type { ItemFacts } from '../items/item-row.ts'
import { hashOf, itemPathIn } from './document-file.ts'

/** An item with more files than this has one fingerprint for all of them. */
const filesNamedMax = 2_000

export interface Readable {
  readonly document: ItemDocument
  readonly files: NonNullable<ItemFacts['files']>
  /** Fingerprints of the contents of the item's children and references, by path. */
  readonly children: Readonly<Record<string, string>>
  readonly references: Readonly<Record<string, string>>
}

/** The inputs that each phase would consume now. */
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
        ...(forms.slice(0, at).some(({ writes }) => writes.includes('_content')) ? ['content'] : []),
      ])
      return [name, Object.fromEntries(Object.entries(whole).filter(([input]) => consumed.has(input)))]
    }),
  )
}

function inputsOf(corpus: Corpus, { document, files, children, references }: Readable, phase: string): Inputs {
  const names = Object.keys(files).sort()
  const prompt = promptIfReadable(corpus, document, phase)
  const hashes = Object.fromEntries(names.map((name) => [name, files[name]?.[1] ?? '']))
  return {
    files: structureHash(names).slice(0, 16),
    steer: short(textIn(document._steer)),
    ...(prompt !== undefined && { prompt }),
    target: short(canonicalJson(targetOfPhase(corpus, phase))),
    refs: short(refsOf(corpus, document).sort().join('\n')),
    content: contentHashOf(document),
    contents: names.length > filesNamedMax ? short(canonicalJson(hashes)) : hashes,
    children,
    references,
  }
}

/** Computed as the original program does: over the sorted names. */
export function structureHash(names: readonly string[]): string {
  return hashOf([...names].sort().join('\n'))
}

export function contentHashOf(document: ItemDocument): string {
  return document._content === undefined ? '' : short(canonicalJson(document._content))
}

/**
 * The items that a document refers to, each once. The original program writes absolute paths too. A reference that leads out of the root is
 * none: the content there belongs to another owner, and must not reach a phase.
 */
export function refsOf({ spec: { root } }: Pick<Corpus, 'spec'>, { _crossRefs: refs }: ItemDocument): string[] {
  if (!Array.isArray(refs)) return []
  const paths = refs.map((ref) => (typeof ref === 'string' ? itemPathIn(root, ref) : null))
  return [...new Set(paths.filter((path) => path !== null))]
}

/**
 * The prompt of a phase: the document's own, such as `_architect`, else the file that the corpus names. Only `{{corpus}}` and
 * `{{phase}}` are filled in, and only in the prompt: no text of another author is ever read as a template.
 */
export function promptOf({ spec, name }: Corpus, document: ItemDocument, phase: string): string | undefined {
  const own = document[`_${phase}`]
  const isOwn = typeof own === 'string' && own !== '' && !writesField(spec, phase)
  const file = spec.prompts[phase]
  const text = isOwn ? own : file === undefined ? undefined : promptIn(file, { name, phase })
  const names: Readonly<Record<string, string>> = { corpus: name, phase }
  return text?.replace(/\{\{(\w+)\}\}/g, (whole, word: string) => names[word] ?? whole)
}

function promptIn(file: string, { name, phase }: { readonly name: string; readonly phase: string }): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const what = `The prompt of ${phase} of corpus ${name} cannot be read: ${file} (${code}).`
    throw new BelfryError('unavailable', what, {
      hint: `Put the file back, or name another one: \`belfry corpus put ${name}\` with \`prompts\`.`,
      details: { corpus: name, phase, file },
    })
  }
}

/**
 * The fingerprint of a prompt; undefined if its file cannot be read, which owes nothing and must not stop looks at the tree. The phase that
 * needs the file reports it.
 */
function promptIfReadable(corpus: Corpus, document: ItemDocument, phase: string): string | undefined {
  try {
    return short(promptOf(corpus, document, phase) ?? '')
  } catch {
    return undefined
  }
}

/** `_builder` is the brief that the architect wrote, not a prompt. */
function writesField(spec: Corpus['spec'], phase: string): boolean {
  return formsOf({ spec }).some(({ writes }) => writes.includes(`_${phase}`))
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function short(text: string): string {
  return hashOf(text).slice(0, 16)
}
