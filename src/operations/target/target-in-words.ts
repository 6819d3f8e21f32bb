import type { Target } from '../../core/target.ts'
import { kindOf, type TargetKind } from '../../targets/kind.ts'
import { plainText, shortText } from '../schedule/plain-text.ts'
import { shellWord } from '../shell-words.ts'

const wordsLengthMax = 300

/** Describes a target. Secrets are named but never shown; environment, headers and body are left out. */
export function targetInWords(target: Target | null | undefined, kinds: readonly TargetKind[]): string {
  if (target === null || target === undefined) return 'no target: outside hosts lease its runs'
  const words = kindOf(target, kinds)?.words(target, (text) => shellWord(plainText(text)))
  return shortText(words ?? Object.keys(target).join(', '), wordsLengthMax)
}
