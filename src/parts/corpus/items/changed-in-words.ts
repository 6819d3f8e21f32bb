import type { Changed } from '../../../core/corpus/invalidate.ts'

const inputs: Readonly<Record<Changed['input'], string>> = {
  files: 'the names of its files',
  steer: 'steer',
  prompt: 'its prompt',
  target: 'its target',
  refs: 'the list of references',
  content: 'its content',
  contents: 'contents of files',
  children: 'contents of children',
  references: 'contents of references',
  architectEvery: 'its cycles',
}

/** The input that changed, and which parts of it: `contents of files (2 of 5 differ): a.md, b.md`. Fingerprints say nothing to a reader. */
export function inputInWords({ input, after, names }: Pick<Changed, 'input' | 'after' | 'names'>): string {
  const what = inputs[input]
  if (input === 'architectEvery') return `${what} (${after})`
  return names === undefined ? what : `${what} (${after}): ${names.join(', ')}`
}

/** The phase and the input: `builder: contents of files (1 of 5 differ): a.md`; and why the change does not count yet. */
export function changedInWords(one: Changed, now: number): string {
  const { phase, from, waitsFor } = one
  const later = from !== undefined && from > now ? ` (counts from ${new Date(from).toISOString()})` : ''
  return `${phase}: ${inputInWords(one)}${waitsFor === undefined ? later : ` (waits for ${waitsFor}, which is owed)`}`
}
