import type { Problem } from '../../operations/problem.ts'

/** What is answered may have a version, by which a later change can say what it was made of. */
export function etagOf(answer: unknown): string | null {
  const version = versionIn(answer)
  return version === null ? null : `"${version}"`
}

function versionIn(answer: unknown): number | null {
  const { version, policyVersion, schedule, queue } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof version === 'number') return version
  if (typeof policyVersion === 'number') return policyVersion
  const written = typeof schedule === 'object' ? schedule : typeof queue === 'object' ? queue : null
  return written === null ? null : versionIn(written)
}

/**
 * The version that If-Match says something must have; If-None-Match with a star, that there must be none yet. A wish that the verb
 * cannot keep is refused: dropped in silence, it would be taken for kept.
 */
export function ifVersionOf(
  headers: Headers,
  { isKept, canBeNew }: { readonly isKept: boolean; readonly canBeNew: boolean },
  problems: Problem[],
): number | undefined {
  const [none, given] = [headers.get('if-none-match'), headers.get('if-match')]
  const refuse = (field: string, problem: string, expected: string) => problems.push({ field, problem, expected })
  if (none !== null && !(none.trim() === '*' && canBeNew)) {
    refuse(
      'If-None-Match',
      `is ${JSON.stringify(none.slice(0, 60))}`,
      canBeNew ? '*, or none' : 'none; POST makes only what is not there',
    )
  }
  if (given === null) return none !== null && canBeNew ? 0 : undefined
  if (!isKept) {
    refuse('If-Match', 'is given, and this cannot be done for one version only', 'none')
    return undefined
  }
  const [, digits] = /^(?:W\/)?"(\d{1,10})"$/.exec(given.trim()) ?? []
  if (digits !== undefined) return Number(digits)
  refuse('If-Match', `is ${JSON.stringify(given.slice(0, 60))}`, 'the ETag as it was answered, such as "3"')
  return undefined
}
